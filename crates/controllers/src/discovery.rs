//! What the server serves, asked in as few requests as it allows.
//!
//! Servers since 1.27 tell everything in two documents. Older ones are asked group by group; a group that does not
//! answer is noted and does not keep the others from being known.

use std::collections::BTreeSet;

use gantry_decide::gc::discovery::{Discovery, Offer, Standing};
use gantry_decide::gc::{Resource, Scope};
use gantry_runtime::{Api, Failure, Target};
use serde_json::Value;

/// Asks what is served; fails only if nothing at all could be learnt.
pub(crate) async fn discover(api: &Api) -> Result<Discovery, Failure> {
    let (core, groups) = futures::join!(roots(api, "/api"), roots(api, "/apis"));
    let mut found = Discovery::default();
    let mut failure = None;
    for root in [core, groups] {
        match root {
            Ok(document) if document["kind"] == "APIGroupDiscoveryList" => aggregated(&document, &mut found),
            Ok(document) => one_by_one(api, &document, &mut found).await,
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(failure) if found.offers.is_empty() => Err(failure),
        _ => Ok(found),
    }
}

async fn roots(api: &Api, path: &str) -> Result<Value, Failure> {
    api.get_discovery(&Target::path(path)).await
}

/// Reads one of the two documents.
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
                found.offers.push(Offer {
                    resource: Resource {
                        api_version: api_version.clone(),
                        kind: text(kind, "kind").to_owned(),
                        plural: text(resource, "resource").to_owned(),
                        scope: scope(resource["scope"] == "Namespaced"),
                    },
                    verbs: verbs(resource),
                    standing: if nth == 0 { Standing::Preferred } else { Standing::Other },
                });
            }
        }
    }
}

/// Asks every version of every group that a document of the old form names.
async fn one_by_one(api: &Api, document: &Value, found: &mut Discovery) {
    let mut versions: Vec<(String, String, Standing)> = Vec::new();
    for (nth, version) in list(document, "versions").iter().filter_map(Value::as_str).enumerate() {
        let standing = if nth == 0 { Standing::Preferred } else { Standing::Other };
        versions.push((String::new(), version.to_owned(), standing));
    }
    for group in list(document, "groups") {
        let preferred = text(&group["preferredVersion"], "version");
        for version in list(group, "versions").iter().map(|version| text(version, "version")) {
            let standing = if version == preferred { Standing::Preferred } else { Standing::Other };
            versions.push((text(group, "name").to_owned(), version.to_owned(), standing));
        }
    }
    let asked = versions.into_iter().map(|(group, version, standing)| async move {
        let api_version = api_version(&group, &version);
        let root = if group.is_empty() { "/api" } else { "/apis" };
        let answer = api.get::<Value>(&Target::path(format!("{root}/{api_version}"))).await;
        (group, api_version, standing, answer)
    });
    for (group, api_version, standing, answer) in futures::future::join_all(asked).await {
        match answer {
            Ok(resources) => found.offers.extend(offers(&api_version, standing, &resources)),
            Err(failure) => {
                tracing::debug!(group, %failure, "a group could not be asked what it serves");
                found.failed_groups.insert(group);
            }
        }
    }
}

/// Reads the resources of one version.
fn offers(api_version: &str, standing: Standing, resources: &Value) -> Vec<Offer> {
    let whole = list(resources, "resources").iter().filter(|resource| !text(resource, "name").contains('/'));
    whole
        .map(|resource| Offer {
            resource: Resource {
                api_version: api_version.to_owned(),
                kind: text(resource, "kind").to_owned(),
                plural: text(resource, "name").to_owned(),
                scope: scope(resource["namespaced"] == true),
            },
            verbs: verbs(resource),
            standing,
        })
        .collect()
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn scope(is_namespaced: bool) -> Scope {
    if is_namespaced { Scope::Namespaced } else { Scope::Cluster }
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
    use serde_json::json;

    use super::*;

    fn brief(found: &[Offer]) -> Vec<String> {
        let line = |offer: &Offer| {
            let Resource { api_version, kind, plural, scope } = &offer.resource;
            format!("{api_version} {kind} {plural} {scope:?} {:?} {}", offer.standing, offer.verbs.len())
        };
        found.iter().map(line).collect()
    }

    /// A1: the first version of a group is the preferred one, and a stale group is one that could not be asked.
    #[test]
    fn everything_is_learnt_from_one_document() {
        let document = json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "apps"}, "versions": [
            {"version": "v1", "resources": [{"resource": "deployments", "responseKind": {"kind": "Deployment"},
                "scope": "Namespaced", "verbs": ["list", "watch", "delete"], "subresources": [{"subresource": "scale"}]}]},
            {"version": "v0", "freshness": "Stale", "resources": []},
        ]}]});
        let mut found = Discovery::default();
        aggregated(&document, &mut found);
        assert_eq!(brief(&found.offers), ["apps/v1 Deployment deployments Namespaced Preferred 3"]);
        assert!(found.failed_groups.contains("apps"));
    }

    #[test]
    fn parts_of_resources_are_no_resources() {
        let resources = json!({"resources": [
            {"name": "nodes", "kind": "Node", "namespaced": false, "verbs": ["get"]},
            {"name": "nodes/status", "kind": "Node", "namespaced": false, "verbs": ["get"]},
        ]});
        let found = offers("v1", Standing::Preferred, &resources);
        assert_eq!(brief(&found), ["v1 Node nodes Cluster Preferred 1"]);
    }
}
