//! The set of fields of an applied configuration (A3.22), and the zero object.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use gantry_json::{Map, Value, json};

use super::shape::{Parts, Shape};
use super::{FieldNode, FieldSet, PathElement};
use gantry_schema::kinds::Nature;
use gantry_schema::schema::{MessageId, Omit, Type, schema};

/// The paths in an object of this kind: its leaves, and the elements of its lists.
///
/// The object's own `managedFields` is not among them.
pub fn fields_of(nature: &Nature, object: &Value) -> FieldSet {
    let mut fields = members_of(Shape::root(nature), object);
    fields.subtract_below(own_managed_fields());
    fields
}

/// The path of an object's own `managedFields`; those of a pod template are a field like any other.
pub(super) fn own_managed_fields() -> &'static FieldSet {
    static OWN: LazyLock<FieldSet> = LazyLock::new(|| FieldSet::of_fields(&["metadata.managedFields"]));
    &OWN
}

/// The zero object of a kind, with which a creation is compared.
///
/// It is empty for custom kinds.
pub(crate) fn zero(nature: &Nature) -> Value {
    match nature {
        Nature::BuiltIn(message) => ZEROS
            .get(message)
            .map_or_else(|| zero_of(*message), |zero| zero.get_or_init(|| zero_of(*message)).clone()),
        Nature::Custom(_) => json!({}),
    }
}

/// The zero objects by message, each made when it is first needed.
static ZEROS: LazyLock<BTreeMap<MessageId, OnceLock<Value>>> =
    LazyLock::new(|| schema().messages().map(|(message, _)| (message, OnceLock::new())).collect());

fn node_of(shape: Shape<'_>, value: &Value) -> FieldNode {
    match shape.parts() {
        Parts::None => FieldNode::leaf(),
        Parts::Deduced if !value.is_object() && !value.is_null() => FieldNode::leaf(),
        Parts::Members | Parts::Deduced => FieldNode { owned: false, below: members_of(shape, value) },
        Parts::Elements => FieldNode { owned: false, below: elements_of(shape, value) },
    }
}

fn members_of(shape: Shape<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, member) in value.as_object().into_iter().flatten() {
        let mut node = shape.member(name).map_or_else(FieldNode::leaf, |inner| node_of(inner, member));
        let states_emptiness = member.is_null() || member.as_object().is_some_and(Map::is_empty);
        node.owned |= states_emptiness || !shape.declares(name);
        set.insert_node(PathElement::field(name), node);
    }
    set
}

fn elements_of(shape: Shape<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, element) in shape.named(value.as_array().map_or(&[], Vec::as_slice)) {
        let mut node = node_of(shape.element(), element);
        node.owned = true;
        set.insert_node(name, node);
    }
    set
}

fn zero_of(message: MessageId) -> Value {
    let mut members = Map::new();
    add_zeros(message, &mut members);
    Value::Object(members)
}

fn add_zeros(id: MessageId, members: &mut Map) {
    for field in &schema().message(id).fields {
        let zero = match (&field.kind, field.omit) {
            (Type::Inline(inlined), _) => {
                add_zeros(*inlined, members);
                continue;
            }
            (_, Omit::Zero) => continue,
            (Type::Message(inner), _) if !field.pointer => zero_of(*inner),
            // A time is never omitted, so one that is not set is `null`.
            (Type::Time | Type::MicroTime, Omit::Empty) if !field.pointer => Value::Null,
            (_, Omit::Empty) => continue,
            _ if field.pointer => Value::Null,
            (Type::String, Omit::Never) => json!(""),
            (Type::Bool, Omit::Never) => json!(false),
            (Type::Int32 | Type::Int64 | Type::Float64 | Type::IntOrString, Omit::Never) => json!(0),
            (Type::Quantity, Omit::Never) => json!("0"),
            (Type::Duration, Omit::Never) => json!("0s"),
            _ => Value::Null,
        };
        members.insert(field.json.to_owned(), zero);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Nature {
        schema().find(name).unwrap().into()
    }

    /// A3.26: elements of lists have owners themselves, plain maps do not; A3.14: atomics are leaves.
    #[test]
    fn an_applied_object_owns_its_leaves_and_the_elements_of_its_lists() {
        let deployment = json!({
            "metadata": {"labels": {"app": "web"}, "managedFields": [{}]},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"spec": {
                    "containers": [{"name": "c", "args": ["a"], "ports": [{"containerPort": 80}],
                                    "resources": {"limits": {"cpu": "1"}}, "securityContext": {}}],
                    "imagePullSecrets": [{"name": "s"}],
                }},
            },
        });
        let expected = json!({
            "f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {
                "f:selector": {},
                "f:template": {"f:spec": {
                    "f:containers": {"k:{\"name\":\"c\"}": {
                        ".": {}, "f:args": {}, "f:name": {},
                        "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}},
                        "f:resources": {"f:limits": {"f:cpu": {}}},
                        "f:securityContext": {},
                    }},
                    "f:imagePullSecrets": {"k:{\"name\":\"s\"}": {}},
                }},
            },
        });
        assert_eq!(fields_of(&kind("apps/v1.Deployment"), &deployment).encode(), expected);
    }

    /// Appendix B: owner references have the key uid and are owned as a whole, finalizers are a set.
    #[test]
    fn managed_fields_of_a_template_are_a_field_and_those_of_the_object_are_not() {
        let metadata = json!({"managedFields": [{"manager": "m"}]});
        let object = json!({"metadata": metadata, "spec": {"template": {"metadata": metadata}}});
        let fields = fields_of(&kind("apps/v1.Deployment"), &object).encode();
        assert_eq!(fields, json!({"f:spec": {"f:template": {"f:metadata": {"f:managedFields": {}}}}}));
    }

    #[test]
    fn owner_references_and_finalizers_are_owned_one_by_one() {
        let object = json!({"metadata": {
            "ownerReferences": [{"uid": "u", "name": "o", "kind": "K", "apiVersion": "v1"}],
            "finalizers": ["example.com/f"],
        }});
        let expected = json!({"f:metadata": {
            "f:finalizers": {"v:\"example.com/f\"": {}},
            "f:ownerReferences": {"k:{\"uid\":\"u\"}": {}},
        }});
        assert_eq!(fields_of(&kind("core/v1.ConfigMap"), &object).encode(), expected);
    }

    /// Appendix B: structs that are owned as a whole everywhere, and one field that is an exception.
    #[test]
    fn structs_are_atomic_by_kind_and_granular_by_exception() {
        let table = [
            (
                "core/v1.PersistentVolume",
                json!({"spec": {"claimRef": {"name": "c"}}}),
                json!({"f:claimRef": {"f:name": {}}}),
            ),
            (
                "networking/v1.Ingress",
                json!({"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}),
                json!({"f:defaultBackend": {"f:service": {"f:name": {}, "f:port": {}}}}),
            ),
            (
                "core/v1.ResourceQuota",
                json!({"spec": {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": []}}}),
                json!({"f:hard": {"f:pods": {}}, "f:scopeSelector": {}}),
            ),
        ];
        for (name, object, spec) in table {
            assert_eq!(fields_of(&kind(name), &object).encode(), json!({"f:spec": spec}), "{name}");
        }
    }

    #[test]
    fn the_zero_deployment_has_the_fields_without_omitempty() {
        let zero = zero(&kind("apps/v1.Deployment"));
        assert_eq!(zero["spec"]["template"]["spec"], json!({"containers": null}));
        assert_eq!(zero["spec"]["selector"], Value::Null);
        assert_eq!(zero["metadata"], json!({}));
        assert!(zero["spec"].get("replicas").is_none());
    }
}
