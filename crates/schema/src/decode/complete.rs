//! The canonical form of absent and empty fields: as Kubernetes prints the same object.
//!
//! The flags of the schema distinguish three cases: a field that is omitted, one that is written although it is empty
//! (`"status":{}`, `"rules":null`), and one that is kept because it is a pointer (`"replicas":0`). Empty lists and
//! maps stay as they were sent; see [`crate::empties`].

use gantry_json::{Map, SmolStr, Value};

use crate::kinds::Nature;
use crate::schema::{Field, MessageId, Omit, Type, schema};

/// Brings the fields of one object into canonical form; their values must be in canonical form already.
pub(crate) fn complete(members: &mut Map, id: MessageId) {
    let unset = |(name, value): (&SmolStr, &Value)| {
        // Most values are not empty: their fields are not looked up.
        let field = if is_empty(value) { schema().field(id, name) } else { None };
        field.filter(|field| is_unset(field, value))
    };
    let unset: Vec<_> = members.iter().filter_map(unset).collect();
    for field in unset {
        members.remove(field.json);
    }
    add_never_absent(members, id);
}

/// Adds the members that a new object is stored with although it lacks them, such as its status.
pub fn complete_root(object: &mut Value, nature: &Nature) {
    if let (Value::Object(members), Some(id)) = (object, nature.message()) {
        add_never_absent(members, id);
    }
}

fn add_never_absent(members: &mut Map, id: MessageId) {
    for field in schema().never_absent(id).iter().map(|position| schema().field_at(id, *position)) {
        if !members.contains_key(field.json) {
            members.extend(absent(field).map(|value| (field.json, value)));
        }
    }
}

/// The value that is written for a field that is not set; `None` if it is omitted.
pub(crate) fn absent(field: &Field) -> Option<Value> {
    is_never_absent(field).then(|| match &field.kind {
        Type::Bytes | Type::List(_) | Type::Map(_) | Type::Raw | Type::Or(..) => Value::Null,
        _ if field.pointer => Value::Null,
        kind => zero(kind),
    })
}

/// Whether a field is written even if it is not set.
pub(crate) fn is_never_absent(field: &Field) -> bool {
    match &field.kind {
        // These are structs in Go, which `omitempty` never omits.
        Type::Message(_)
        | Type::Inline(_)
        | Type::Quantity
        | Type::IntOrString
        | Type::Time
        | Type::MicroTime
        | Type::Duration
            if !field.pointer =>
        {
            field.omit != Omit::Zero
        }
        _ => field.omit == Omit::Never,
    }
}

/// The zero value of a type.
pub fn zero(kind: &Type) -> Value {
    match kind {
        Type::String | Type::Bytes => Value::from(""),
        Type::Bool => Value::Bool(false),
        Type::Int32 | Type::Int64 | Type::IntOrString => Value::from(0),
        Type::Float64 => Value::from(0.0),
        Type::Quantity => Value::from("0"),
        Type::Duration => Value::from("0s"),
        Type::Time | Type::MicroTime | Type::Raw | Type::List(_) | Type::Map(_) | Type::Or(..) => Value::Null,
        Type::Message(id) | Type::Inline(id) => {
            let mut members = Map::new();
            complete(&mut members, *id);
            Value::Object(members)
        }
    }
}

/// Whether a value may mean that its field is not set, for some field.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(elements) => elements.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) | Value::Object(_) => false,
    }
}

/// Whether a value of this field means that it is not set.
pub(crate) fn is_unset(field: &Field, value: &Value) -> bool {
    match (value, &field.kind) {
        (Value::Null, _) => true,
        (Value::Array(elements), Type::Or(..)) => elements.is_empty(),
        (Value::String(text), Type::String | Type::Bytes) => text.is_empty() && zero_is_unset(field),
        (Value::Bool(boolean), Type::Bool) => !boolean && zero_is_unset(field),
        (Value::Number(number), Type::Int32 | Type::Int64 | Type::Float64) => {
            number.as_f64() == Some(0.0) && zero_is_unset(field)
        }
        _ => false,
    }
}

fn zero_is_unset(field: &Field) -> bool {
    !field.pointer && field.omit != Omit::Never
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn completed(message: &str, value: Value) -> Value {
        let Value::Object(mut members) = value else { panic!("{value}") };
        complete(&mut members, schema().find(message).unwrap());
        Value::Object(members)
    }

    /// A2.7: fields that Kubernetes always prints are present, others are not.
    #[test]
    fn empty_structs_and_counters_without_omit_rule_are_written() {
        assert_eq!(
            completed("apps/v1.ReplicaSet", json!({})),
            json!({
                "metadata": {}, "status": {"replicas": 0},
                "spec": {"selector": null, "template": {"metadata": {}, "spec": {"containers": null}}}
            })
        );
        assert_eq!(completed("apps/v1.DeploymentStatus", json!({"replicas": 0})), json!({}));
        assert_eq!(completed("core/v1.Service", json!({}))["status"], json!({"loadBalancer": {}}));
        assert_eq!(completed("rbac/v1.ClusterRole", json!({}))["rules"], json!(null));
        assert_eq!(
            completed("autoscaling/v2.HorizontalPodAutoscalerStatus", json!({})),
            json!({"currentMetrics": null, "desiredReplicas": 0})
        );
    }

    /// A2.7: times without omit rule are `null`; the creation time is left out.
    #[test]
    fn unset_times_are_null_or_left_out() {
        let condition = completed("core/v1.PodCondition", json!({"type": "Ready", "status": "True"}));
        assert_eq!(condition["lastProbeTime"], json!(null));
        assert!(condition.as_object().unwrap().contains_key("lastProbeTime"));
        assert_eq!(completed("meta/v1.ObjectMeta", json!({"creationTimestamp": null})), json!({}));
    }

    /// A9.5: zero is kept behind a pointer and dropped without one.
    #[test]
    fn zero_behind_a_pointer_is_kept() {
        let spec =
            json!({"replicas": 0, "minReadySeconds": 0, "paused": false, "selector": {}, "template": {}});
        let kept = completed("apps/v1.DeploymentSpec", spec);
        assert_eq!(kept, json!({"replicas": 0, "selector": {}, "strategy": {}, "template": {}}));
        let path = completed("core/v1.HostPathVolumeSource", json!({"path": "/", "type": ""}));
        assert_eq!(path, json!({"path": "/", "type": ""}));
    }
}
