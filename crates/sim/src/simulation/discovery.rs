//! Limited discovery documents for controllers of workloads: aggregated discovery with few kinds.

use std::sync::OnceLock;

use bytes::Bytes;
use gantry_json::Value;

/// The kinds of the objects of a rollout: by group, the plural names.
const SHOWN: [(&str, &[&str]); 2] = [("", &["pods"]), ("apps", &["deployments", "replicasets"])];

/// The paths of the documents.
pub(super) const PATHS: [&str; 2] = ["/api", "/apis"];

/// The limited documents of these paths. No simulation with limits changes the served kinds, so they are made once,
/// before all simulations.
static DOCUMENTS: OnceLock<[Bytes; 2]> = OnceLock::new();

/// Makes the limited documents from those of a server.
pub(super) fn prepare(documents: [Value; 2]) {
    DOCUMENTS.get_or_init(|| documents.map(|document| Bytes::from(limited(document).to_string())));
}

/// The limited document of this path, if it has one.
pub(super) fn limited_document(path: &str) -> Option<Bytes> {
    let place = PATHS.iter().position(|known| *known == path)?;
    Some(DOCUMENTS.get()?[place].clone())
}

fn limited(mut document: Value) -> Value {
    let shown = |group: &Value| {
        let name = group["metadata"]["name"].as_str().unwrap_or_default();
        SHOWN.iter().find(|(group, _)| *group == name).map(|(_, plurals)| *plurals)
    };
    if let Some(groups) = document["items"].as_array_mut() {
        groups.retain(|group| shown(group).is_some());
    }
    for group in members(&mut document, "items") {
        let shown = shown(group).unwrap_or_default();
        for version in members(group, "versions") {
            if let Some(resources) = version["resources"].as_array_mut() {
                resources.retain(|resource| shown.iter().any(|plural| resource["resource"] == *plural));
            }
        }
    }
    document
}

fn members<'a>(value: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    value[field].as_array_mut().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn other_kinds_are_left_out_of_a_document() {
        let resources = |plurals: &[&str]| {
            let resources: Vec<Value> = plurals.iter().map(|plural| json!({"resource": plural})).collect();
            json!([{"version": "v1", "resources": resources}])
        };
        let document = json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": resources(&["daemonsets", "deployments", "replicasets"])},
            {"metadata": {"name": "batch"}, "versions": resources(&["jobs"])},
        ]});
        let expected = json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": resources(&["deployments", "replicasets"])},
        ]});
        assert_eq!(limited(document), expected);
    }
}
