//! Discovery documents, legacy and aggregated.
//!
//! Only the bodies: headers (ETag, Content-Type, Vary) are the server's.

use gantry_json::{Value, json};

use super::{Group, GroupVersion, Kind, Kinds, Nature, Scope, Subresource, Verb};

/// The response to `GET /api`; the address is where clients reach the server.
pub fn legacy_root(server_address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}],
    })
}

/// The response to `GET /apis`: every group but the core group.
pub fn group_list(kinds: &Kinds) -> Value {
    let groups: Vec<_> = named_groups(kinds).map(described).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// The response to `GET /apis/{group}`.
pub fn group(kinds: &Kinds, name: &str) -> Option<Value> {
    let group = named_groups(kinds).find(|group| group.name == name)?;
    let mut body = described(group);
    body["kind"] = json!("APIGroup");
    body["apiVersion"] = json!("v1");
    Some(body)
}

/// The response to `GET /api/v1` and `GET /apis/{group}/{version}`.
pub fn resource_list(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let mut entries = Vec::new();
    for kind in kinds.of(group, version) {
        entries.push(resource_entry(kind));
        entries.extend(kind.subresources.iter().map(|subresource| subresource_entry(kind, subresource)));
    }
    if entries.is_empty() {
        return None;
    }
    let mut body =
        json!({"kind": "APIResourceList", "groupVersion": api_version(group, version), "resources": entries});
    if !group.is_empty() {
        // A quirk that clients rely on: the core group's list has no apiVersion.
        body["apiVersion"] = json!("v1");
    }
    Some(body)
}

/// The aggregated response to `GET /api`.
pub fn aggregated_core(kinds: &Kinds) -> Value {
    aggregated(kinds, kinds.groups().iter().filter(|group| group.name.is_empty()))
}

/// The aggregated response to `GET /apis`.
pub fn aggregated_groups(kinds: &Kinds) -> Value {
    aggregated(kinds, named_groups(kinds))
}

fn named_groups(kinds: &Kinds) -> impl Iterator<Item = &Group> {
    kinds.groups().iter().filter(|group| !group.name.is_empty())
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn described(group: &Group) -> Value {
    let one = |version: &&str| json!({"groupVersion": api_version(group.name, version), "version": version});
    let versions: Vec<_> = group.versions.iter().map(one).collect();
    json!({"name": group.name, "preferredVersion": versions.first(), "versions": versions})
}

fn resource_entry(kind: &Kind) -> Value {
    let mut entry = json!({
        "name": kind.resource,
        "singularName": kind.singular,
        "namespaced": kind.scope == Scope::Namespaced,
        "kind": kind.kind,
        "verbs": words(listed(kind)),
    });
    add_names(&mut entry, kind);
    entry
}

fn subresource_entry(kind: &Kind, subresource: &Subresource) -> Value {
    let mut entry = json!({
        "name": format!("{}/{}", kind.resource, subresource.name),
        "singularName": "",
        "namespaced": kind.scope == Scope::Namespaced,
        "kind": subresource.kind,
        "verbs": words(&subresource.verbs),
    });
    if let Some(GroupVersion { group, version }) = subresource.foreign {
        entry["group"] = json!(group);
        entry["version"] = json!(version);
    }
    entry
}

fn add_names(entry: &mut Value, kind: &Kind) {
    if !kind.short_names.is_empty() {
        entry["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        entry["categories"] = json!(kind.categories);
    }
}

fn aggregated<'a>(kinds: &Kinds, groups: impl Iterator<Item = &'a Group>) -> Value {
    let items: Vec<_> = groups.map(|group| aggregated_group(kinds, group)).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_group(kinds: &Kinds, group: &Group) -> Value {
    let version = |version: &&'static str| {
        let resources: Vec<_> = kinds.of(group.name, version).map(aggregated_resource).collect();
        json!({"version": version, "resources": resources, "freshness": "Current"})
    };
    let versions: Vec<_> = group.versions.iter().map(version).collect();
    let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(kind: &Kind) -> Value {
    let mut entry = json!({
        "resource": kind.resource,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "scope": if kind.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": words(listed(kind)),
    });
    add_names(&mut entry, kind);
    if !kind.subresources.is_empty() {
        let subresources =
            kind.subresources.iter().map(|subresource| aggregated_subresource(kind, subresource));
        entry["subresources"] = subresources.collect();
    }
    entry
}

fn aggregated_subresource(kind: &Kind, subresource: &Subresource) -> Value {
    let own = GroupVersion { group: kind.group, version: kind.version };
    let GroupVersion { group, version } = subresource.foreign.unwrap_or(own);
    json!({
        "subresource": subresource.name,
        "responseKind": {"group": group, "version": version, "kind": subresource.kind},
        "verbs": words(&subresource.verbs),
    })
}

/// The verbs that are listed. While the definition of a custom kind is being deleted, objects cannot be created, but
/// still be changed, so that finalizers can be removed.
fn listed(kind: &Kind) -> &[Verb] {
    const ENDING: [Verb; 5] = [Verb::Delete, Verb::DeleteCollection, Verb::Get, Verb::List, Verb::Watch];
    match &kind.nature {
        Nature::Custom(custom) if custom.is_terminating => &ENDING,
        _ => &kind.verbs,
    }
}

fn words(verbs: &[Verb]) -> Vec<&'static str> {
    verbs.iter().map(|verb| verb.as_str()).collect()
}
