//! Discovery of the served resources, in as few requests as the server allows.
//!
//! Servers since 1.27 return aggregated discovery in two documents. Older ones have a document per group; a group
//! whose discovery fails is recorded and does not affect the others.

use std::collections::BTreeSet;

use gantry_decide::gc::discovery::{Discovery, ServedResource, VersionPreference};
use gantry_decide::gc::{Resource, ResourceScope};
use gantry_json::Value;
use gantry_runtime::{Api, NoneIf as _, RequestError, ResourcePath};

/// Fails if one of the two documents cannot be read, as client-go does: the resources that it lists may still be
/// served.
///
/// A caller that treated the other document as complete would stop watching kinds and miss their deletions. A server
/// without core resources has no `/api`.
pub(crate) async fn discover(api: &Api) -> Result<Discovery, RequestError> {
    let (core, groups) = futures::join!(roots(api, "/api"), roots(api, "/apis"));
    let mut found = Discovery::default();
    for document in core.none_if_absent()?.into_iter().chain([groups?]) {
        if document["kind"] == "APIGroupDiscoveryList" {
            aggregated(&document, &mut found);
        } else {
            one_by_one(api, &document, &mut found).await;
        }
    }
    Ok(found)
}

async fn roots(api: &Api, path: &str) -> Result<Value, RequestError> {
    api.get_discovery(&ResourcePath::path(path)).await
}

/// Parses an aggregated discovery document.
fn aggregated(document: &Value, found: &mut Discovery) {
    for group in list(document, "items") {
        let name = text(&group["metadata"], "name");
        for (nth, version) in list(group, "versions").iter().enumerate() {
            if version["freshness"] == "Stale" {
                found.failed_groups.insert(name.to_owned());
            }
            let api_version = api_version(name, text(version, "version"));
            for resource in list(version, "resources") {
                let kind = &resource["responseKind"];
                found.resources.push(ServedResource {
                    resource: Resource {
                        api_version: api_version.clone(),
                        kind: text(kind, "kind").to_owned(),
                        plural: text(resource, "resource").to_owned(),
                        scope: scope(resource["scope"] == "Namespaced"),
                    },
                    verbs: verbs(resource),
                    preference: if nth == 0 {
                        VersionPreference::Preferred
                    } else {
                        VersionPreference::Other
                    },
                });
            }
        }
    }
}

/// Requests every version of every group of an unaggregated document.
async fn one_by_one(api: &Api, document: &Value, found: &mut Discovery) {
    let mut versions: Vec<(String, String, VersionPreference)> = Vec::new();
    for (nth, version) in list(document, "versions").iter().filter_map(Value::as_str).enumerate() {
        let preference = if nth == 0 { VersionPreference::Preferred } else { VersionPreference::Other };
        versions.push((String::new(), version.to_owned(), preference));
    }
    for group in list(document, "groups") {
        let preferred = text(&group["preferredVersion"], "version");
        for version in list(group, "versions").iter().map(|version| text(version, "version")) {
            let preference =
                if version == preferred { VersionPreference::Preferred } else { VersionPreference::Other };
            versions.push((text(group, "name").to_owned(), version.to_owned(), preference));
        }
    }
    let requests = versions.into_iter().map(|(group, version, preference)| async move {
        let api_version = api_version(&group, &version);
        let root = if group.is_empty() { "/api" } else { "/apis" };
        let response = api.get::<Value>(&ResourcePath::path(format!("{root}/{api_version}"))).await;
        (group, api_version, preference, response)
    });
    for (group, api_version, preference, response) in futures::future::join_all(requests).await {
        match response {
            Ok(list) => found.resources.extend(resources(&api_version, preference, &list)),
            Err(failure) => {
                tracing::debug!(group, %failure, "the discovery of a group failed");
                found.failed_groups.insert(group);
            }
        }
    }
}

/// Parses the resources of one version.
fn resources(api_version: &str, preference: VersionPreference, resources: &Value) -> Vec<ServedResource> {
    let whole = list(resources, "resources").iter().filter(|resource| !text(resource, "name").contains('/'));
    whole
        .map(|resource| ServedResource {
            resource: Resource {
                api_version: api_version.to_owned(),
                kind: text(resource, "kind").to_owned(),
                plural: text(resource, "name").to_owned(),
                scope: scope(resource["namespaced"] == true),
            },
            verbs: verbs(resource),
            preference,
        })
        .collect()
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn scope(is_namespaced: bool) -> ResourceScope {
    if is_namespaced { ResourceScope::Namespaced } else { ResourceScope::Cluster }
}

fn verbs(resource: &Value) -> BTreeSet<String> {
    list(resource, "verbs").iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn brief(found: &[ServedResource]) -> Vec<String> {
        let line = |served: &ServedResource| {
            let Resource { api_version, kind, plural, scope } = &served.resource;
            format!("{api_version} {kind} {plural} {scope:?} {:?} {}", served.preference, served.verbs.len())
        };
        found.iter().map(line).collect()
    }

    /// A1: the first version of a group is the preferred one, and the discovery of a stale group counts as failed.
    #[test]
    fn all_resources_are_discovered_from_one_document() {
        let document = json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "apps"}, "versions": [
            {"version": "v1", "resources": [{"resource": "deployments", "responseKind": {"kind": "Deployment"},
                "scope": "Namespaced", "verbs": ["list", "watch", "delete"], "subresources": [{"subresource": "scale"}]}]},
            {"version": "v0", "freshness": "Stale", "resources": []},
        ]}]});
        let mut found = Discovery::default();
        aggregated(&document, &mut found);
        assert_eq!(brief(&found.resources), ["apps/v1 Deployment deployments Namespaced Preferred 3"]);
        assert!(found.failed_groups.contains("apps"));
    }

    #[test]
    fn subresources_are_not_resources() {
        let list = json!({"resources": [
            {"name": "nodes", "kind": "Node", "namespaced": false, "verbs": ["get"]},
            {"name": "nodes/status", "kind": "Node", "namespaced": false, "verbs": ["get"]},
        ]});
        let found = resources("v1", VersionPreference::Preferred, &list);
        assert_eq!(brief(&found), ["v1 Node nodes Cluster Preferred 1"]);
    }
}
