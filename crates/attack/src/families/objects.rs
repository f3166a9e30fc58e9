//! Valid objects, from which hostile ones are made.

use gantry_json::{Value, json};
use gantry_rng::Rng;

use super::BODY_BYTES_MAX;
use crate::server::NAMESPACE;

pub(super) const JSON: &str = "application/json";
pub(super) const YAML: &str = "application/yaml";
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
pub(super) const JSON_PATCH: &str = "application/json-patch+json";
pub(super) const MERGE: &str = "application/merge-patch+json";
pub(super) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(super) const APPLY: &str = "application/apply-patch+yaml";
pub(super) const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Returns the path of a collection in the namespace of the attack.
pub(super) fn collection(group_version: &str, resource: &str) -> String {
    let root = if group_version.contains('/') { "apis" } else { "api" };
    format!("/{root}/{group_version}/namespaces/{NAMESPACE}/{resource}")
}

/// Returns a collection and a valid object for it, of one of several kinds.
pub(super) fn any(rng: &mut Rng, name: &str) -> (String, Value) {
    let metadata = json!({"name": name, "labels": {"a": "b"}, "annotations": {"c": "d"}});
    match rng.below(9) {
        0 | 1 => (collection("apps/v1", "deployments"), deployment(name)),
        2 => (collection("v1", "pods"), pod(name)),
        3 => (
            collection("v1", "services"),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {
                "selector": {"a": "b"}, "ports": [{"name": "http", "port": 80, "targetPort": "web"}],
            }}),
        ),
        4 => (collection("v1", "configmaps"), config_map(name)),
        5 => (
            collection("v1", "secrets"),
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"k": "dmFsdWU="}}),
        ),
        6 => (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles".to_owned(),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata,
                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            }),
        ),
        7 => (
            collection("policy/v1", "poddisruptionbudgets"),
            json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata,
                "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}},
            }),
        ),
        _ => (DEFINITIONS.to_owned(), definition(name, &json!({"type": "object"}), &[])),
    }
}

pub(super) fn pod_spec() -> Value {
    json!({"containers": [{
        "name": "web", "image": "nginx:1", "ports": [{"containerPort": 80, "name": "http"}],
        "env": [{"name": "A", "value": "b"}], "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }]})
}

pub(super) fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"a": "b"}}, "spec": pod_spec()})
}

pub(super) fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": {"a": "b"}},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": pod_spec(),
        }},
    })
}

pub(super) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}})
}

/// Returns the group of the custom resource of a case.
pub(super) fn group(name: &str) -> String {
    format!("{name}.attack.example.com")
}

/// Returns the collection of the custom resource of a case.
pub(super) fn widgets(name: &str) -> String {
    collection(&format!("{}/v1", group(name)), "widgets")
}

/// Returns a definition of widgets in a group of their own. `schema` is the schema of `spec`.
pub(super) fn definition(name: &str, schema: &Value, columns: &[Value]) -> Value {
    let group = group(name);
    let schema = json!({"type": "object", "properties": {"spec": schema}});
    let mut version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
    });
    if !columns.is_empty() {
        version["additionalPrinterColumns"] = Value::Array(columns.to_vec());
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "versions": [version],
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        },
    })
}

/// Returns a custom object of such a definition.
pub(super) fn widget(name: &str, object: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("{}/v1", group(name)), "kind": "Widget", "metadata": {"name": object}, "spec": spec,
    })
}

/// Returns a value nested in lists and objects.
pub(super) fn nested(rng: &mut Rng, depth: usize, inner: Value) -> Value {
    let is_list = rng.one_in(2);
    (0..depth).fold(inner, |inner, _| if is_list { Value::Array(vec![inner]) } else { json!({"a": inner}) })
}

/// Replaces one value somewhere in the object by one of another type.
pub(super) fn disfigure(rng: &mut Rng, value: &mut Value) {
    let stops = rng.one_in(5);
    match value {
        Value::Array(elements) if !stops && !elements.is_empty() => {
            let index = rng.index(elements.len());
            disfigure(rng, &mut elements[index]);
        }
        Value::Object(members) if !stops && !members.is_empty() => {
            let index = rng.index(members.len());
            if let Some(member) = members.values_mut().nth(index) {
                disfigure(rng, member);
            }
        }
        other => *other = strange(rng, other),
    }
}

fn strange(rng: &mut Rng, value: &Value) -> Value {
    match rng.below(18) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(i64::MIN),
        3 => json!(u64::MAX),
        4 => json!(1e300),
        5 => json!(""),
        6 => json!([]),
        7 => json!({}),
        8 => json!([value, value, null]),
        9 => json!({"name": value, "metadata": value, "$patch": "replace"}),
        10 => nested(rng, 200, value.clone()),
        11 => json!("é\u{0}\"\\\u{202e}"),
        12 => json!("x".repeat(size_of_text(rng))),
        13 => json!("1e999999999"),
        14 => json!("9999999999999999999Ei"),
        15 => json!("0001-01-01T00:00:00Z"),
        // Objects are disfigured several times: a list of lists of lists would exhaust the memory of the attacker.
        16 => json!(vec![value; (BODY_BYTES_MAX / text_bytes(value, BODY_BYTES_MAX)).clamp(1, 1000)]),
        _ => json!({"matchExpressions": [{"key": value, "operator": "In", "values": [value]}]}),
    }
}

/// Returns the approximate number of bytes of a value as text, or a number beyond `limit` if it is larger.
fn text_bytes(value: &Value, limit: usize) -> usize {
    const PUNCTUATION: usize = 3;
    let all = |values: &mut dyn Iterator<Item = (usize, &Value)>| {
        let mut bytes = PUNCTUATION;
        for (name, value) in values {
            if bytes > limit {
                break;
            }
            bytes += name + PUNCTUATION + text_bytes(value, limit - bytes);
        }
        bytes
    };
    match value {
        Value::Array(elements) => all(&mut elements.iter().map(|element| (0, element))),
        Value::Object(members) => all(&mut members.iter().map(|(name, member)| (name.len(), member))),
        Value::String(text) => text.len() + PUNCTUATION,
        _ => 2 * PUNCTUATION,
    }
}

fn size_of_text(rng: &mut Rng) -> usize {
    super::size(rng, 1, 300_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of a thousand lists of a thousand lists once exhausted the memory of the machine instead of the server's.
    #[test]
    fn a_value_that_is_mutated_repeatedly_stays_small() {
        let mut rng = Rng::new(7);
        let mut largest = 0;
        for _ in 0..2000 {
            let mut value = json!({"a": [1, 2, {"b": "c"}]});
            for _ in 0..5 {
                value = strange(&mut rng, &value);
            }
            largest = largest.max(text_bytes(&value, 1 << 30));
        }
        assert!((BODY_BYTES_MAX / 2..64 * BODY_BYTES_MAX).contains(&largest), "{largest}");
    }

    #[test]
    fn the_size_of_a_text_is_estimated_up_to_a_limit() {
        let value = json!({"list": ["abc", 1, null]});
        assert!((10..60).contains(&text_bytes(&value, 1000)));
        let wide = json!(vec![json!(vec![value; 1000]); 1000]);
        assert!((1000..2000).contains(&text_bytes(&wide, 1000)));
    }
}
