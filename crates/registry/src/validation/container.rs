//! Validates containers, init containers and ephemeral containers.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, number, text};
use super::names::{label, port_name, port_number};
use super::volume::Mountable;
use super::{environment, mount, probe, resources, restart, security};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
/// In Kubernetes' order.
const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];
/// Fields that ephemeral containers cannot have, in Kubernetes' order.
const NOT_IN_EPHEMERAL: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// The parts of a pod that the validation of its containers uses.
#[derive(Clone, Copy)]
struct PodContext<'a> {
    spec: &'a Value,
    volumes: &'a Mountable<'a>,
}

/// Validates all containers of a spec; `volumes` are those that can be mounted.
pub(crate) fn all(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, volumes: &Mountable<'_>) {
    let pod = PodContext { spec, volumes };
    let mut names = BTreeSet::new();
    running(errors, &at.child("containers"), list(spec, "containers"), pod, &mut names);
    first(errors, &at.child("initContainers"), list(spec, "initContainers"), pod, &mut names);
    ephemeral_containers(errors, &at.child("ephemeralContainers"), pod, &mut names);
}

impl PodContext<'_> {
    /// The termination grace period.
    fn grace(self) -> Option<i64> {
        number(self.spec, "terminationGracePeriodSeconds")
    }
}

fn running<'a>(
    errors: &mut ErrorList,
    at: &Path<'_>,
    containers: &'a [Value],
    pod: PodContext<'_>,
    names: &mut BTreeSet<&'a str>,
) {
    if containers.is_empty() {
        return errors.required(at, "");
    }
    for (index, container) in containers.iter().enumerate() {
        let at = at.index(index);
        any(errors, &at, container, pod);
        unique_name(errors, &at, container, names);
        probe::lifecycle(errors, &at.child("lifecycle"), &container["lifecycle"], pod.grace());
        for name in PROBES {
            probe::probe(errors, &at, name, &container[name]);
        }
        restart::policy(errors, &at, container);
    }
    host_port_conflicts(errors, at, containers);
}

fn first<'a>(
    errors: &mut ErrorList,
    list_at: &Path<'_>,
    containers: &'a [Value],
    pod: PodContext<'_>,
    names: &mut BTreeSet<&'a str>,
) {
    for (index, container) in containers.iter().enumerate() {
        let at = list_at.index(index);
        any(errors, &at, container, pod);
        restart::policy(errors, &at, container);
        unique_name(errors, &at, container, names);
        // Init containers run one after another, so each is checked alone; the index is 0, as in Kubernetes.
        host_port_conflicts(errors, list_at, std::slice::from_ref(container));
        let stays = text(container, "restartPolicy") == "Always";
        let why = "may not be set for init containers without restartPolicy=Always";
        if stays {
            probe::lifecycle(errors, &at.child("lifecycle"), &container["lifecycle"], pod.grace());
        } else if is_set(container, "lifecycle") {
            errors.forbidden(&at.child("lifecycle"), why);
        }
        for name in PROBES {
            if stays {
                probe::probe(errors, &at, name, &container[name]);
            } else if is_set(container, name) {
                errors.forbidden(&at.child(name), why);
            }
        }
        if !stays {
            restart::resize_before(errors, &at, container);
        }
    }
}

fn ephemeral_containers<'a>(
    errors: &mut ErrorList,
    at: &Path<'_>,
    pod: PodContext<'a>,
    names: &mut BTreeSet<&'a str>,
) {
    let targets: BTreeSet<_> = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|field| list(pod.spec, field))
        .map(|container| text(container, "name"))
        .collect();
    for (index, container) in list(pod.spec, "ephemeralContainers").iter().enumerate() {
        let at = at.index(index);
        any(errors, &at, container, pod);
        unique_name(errors, &at, container, names);
        let target = text(container, "targetContainerName");
        if !target.is_empty() && !targets.contains(target) {
            errors.not_found(&at.child("targetContainerName"), &json!(target));
        }
        let why = "cannot be set for an Ephemeral Container";
        for field in NOT_IN_EPHEMERAL.into_iter().filter(|field| is_set_in(container, field)) {
            errors.forbidden(&at.child(field), why);
        }
        for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
            let at = at.child("volumeMounts");
            let at = at.index(index);
            for field in ["subPath", "subPathExpr"].into_iter().filter(|field| !text(mount, field).is_empty())
            {
                errors.forbidden(&at.child(field), why);
            }
        }
    }
}

/// Whether a field of a container is set; `resources` is set if it is not empty.
fn is_set_in(container: &Value, field: &str) -> bool {
    match &container[field] {
        Value::Object(resources) if field == "resources" => !resources.is_empty(),
        value => !value.is_null(),
    }
}

/// Validates the fields that all containers have.
fn any(errors: &mut ErrorList, at: &Path<'_>, container: &Value, pod: PodContext<'_>) {
    let name = text(container, "name");
    errors.required_text(&at.child("name"), name, label);
    if text(container, "image").is_empty() {
        errors.required(&at.child("image"), "");
    }
    let policy = &container["terminationMessagePolicy"];
    errors.one_of(&at.child("terminationMessagePolicy"), policy, &MESSAGE_POLICIES);
    ports(errors, &at.child("ports"), list(container, "ports"));
    environment::variables(errors, &at.child("env"), list(container, "env"));
    environment::sources(errors, &at.child("envFrom"), list(container, "envFrom"));
    mount::mounts(errors, at, container, pod.volumes);
    errors.one_of(&at.child("imagePullPolicy"), &container["imagePullPolicy"], &PULL_POLICIES);
    resources::requirements(errors, &at.child("resources"), &container["resources"]);
    resources::claims(errors, &at.child("resources").child("claims"), container, pod.spec);
    let policy = text(pod.spec, "restartPolicy");
    restart::resize(errors, &at.child("resizePolicy"), container, policy);
    let (at, context) = (at.child("securityContext"), &container["securityContext"]);
    security::of_container(errors, &at, context, pod.spec);
}

fn unique_name<'a>(
    errors: &mut ErrorList,
    at: &Path<'_>,
    container: &'a Value,
    names: &mut BTreeSet<&'a str>,
) {
    let name = text(container, "name");
    if !names.insert(name) {
        errors.duplicate(&at.child("name"), &json!(name));
    }
}

fn ports(errors: &mut ErrorList, at: &Path<'_>, ports: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let wrong = port_name(name);
            if wrong.is_empty() && !names.insert(name) {
                errors.duplicate(&at.child("name"), &json!(name));
            }
            errors.invalid_text(&at.child("name"), name, wrong);
        }
        match number(port, "containerPort").unwrap_or(0) {
            0 => errors.required(&at.child("containerPort"), ""),
            number => in_range(errors, &at.child("containerPort"), number),
        }
        match number(port, "hostPort").unwrap_or(0) {
            0 => {}
            number => in_range(errors, &at.child("hostPort"), number),
        }
        errors.one_of(&at.child("protocol"), &port["protocol"], &PROTOCOLS);
    }
}

fn in_range(errors: &mut ErrorList, at: &Path<'_>, port: i64) {
    for why in port_number(port) {
        errors.invalid(at, &json!(port), why);
    }
}

fn host_port_conflicts(errors: &mut ErrorList, at: &Path<'_>, containers: &[Value]) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let Some(host) = number(port, "hostPort").filter(|host| *host != 0) else { continue };
            let place = format!("{}/{}/{host}", text(port, "protocol"), text(port, "hostIP"));
            if taken.contains(&place) {
                let at = at.index(index);
                let at = at.child("ports");
                errors.duplicate(&at.index(port_index).child("hostPort"), &json!(place));
            }
            taken.insert(place);
        }
    }
}
