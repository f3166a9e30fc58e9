//! Fields of disabled or removed features: clients may send them, but they are not stored.
//!
//! An object that an older version stored with such a field keeps it, as on Kubernetes: otherwise an update that does not
//! change the field would count as one that does, which pods do not allow.

use gantry_json::{Map, Value};

const POD: [&str; 2] = ["schedulingGroup", "evictionResponders"];
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// Called with the map that holds a disabled field, and its name.
pub(crate) type Visit<'a> = dyn FnMut(&mut Map, &str) + 'a;

/// Removes the disabled fields that `visit_all` visits, unless the stored object has some of them. The client that wrote them
/// is still recorded as their owner.
pub(crate) fn drop(
    stored: Option<&Value>,
    object: &mut Value,
    visit_all: impl Fn(&mut Value, &mut Visit<'_>),
) {
    let has_any = |object: &mut Value| {
        let mut has_any = false;
        visit_all(object, &mut |holder, field| has_any |= holder.contains_key(field));
        has_any
    };
    if has_any(object) && !stored.is_some_and(|stored| has_any(&mut stored.clone())) {
        visit_all(object, &mut |holder, field| {
            holder.remove(field);
        });
    }
}

/// Visits the disabled fields of the pod template at `spec.template`.
pub(crate) fn pod_template(object: &mut Value, visit: &mut Visit<'_>) {
    pod(object, "/spec/template/spec", visit);
}

/// Visits fields of the object at a JSON pointer.
pub(crate) fn fields(object: &mut Value, holder: &str, names: &[&str], visit: &mut Visit<'_>) {
    if let Some(Value::Object(holder)) = object.pointer_mut(holder) {
        for name in names {
            visit(holder, name);
        }
    }
}

/// Visits the disabled fields of the pod spec at a JSON pointer.
pub(crate) fn pod(object: &mut Value, spec: &str, visit: &mut Visit<'_>) {
    fields(object, spec, &POD, visit);
    let Some(Value::Object(spec)) = object.pointer_mut(spec) else { return };
    for field in CONTAINERS {
        let containers = spec.get_mut(field).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            visit_container(container, visit);
        }
    }
}

fn visit_container(container: &mut Map, visit: &mut Visit<'_>) {
    for probe in PROBES {
        if let Some(Value::Object(grpc)) = container.get_mut(probe).and_then(|probe| probe.get_mut("grpc")) {
            visit(grpc, "mode");
        }
    }
    if let Some(Value::Object(lifecycle)) = container.get_mut("lifecycle") {
        let was_empty = lifecycle.is_empty();
        visit(lifecycle, "stopSignal");
        // An empty lifecycle is dropped, too.
        if lifecycle.is_empty() && !was_empty {
            container.remove("lifecycle");
        }
    }
}
