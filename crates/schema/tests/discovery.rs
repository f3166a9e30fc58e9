//! Discovery, compared with Kubernetes 1.37 for the resources in the recordings.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking; recordings are files"
)]

use gantry_json::{Value, json};
use gantry_schema::kinds::{discovery, kinds};

/// A1.2: resources are sorted by name, each before its subresources; the list of the core group has no apiVersion.
#[test]
fn resource_lists_are_those_recorded() {
    for recording in ["core_resources", "group_resources"] {
        for exchange in recorded(recording) {
            let path = exchange["request"].as_str().unwrap().strip_prefix("GET ").unwrap().to_owned();
            let mut parts = path.rsplit('/');
            let version = parts.next().unwrap();
            let group = parts.next().filter(|group| *group != "api").unwrap_or("");
            let mut ours = discovery::resource_list(kinds(), group, version).unwrap();
            let wanted: Vec<_> = exchange["body"]["resources"].as_array().unwrap().iter().map(name).collect();
            ours["resources"].as_array_mut().unwrap().retain(|entry| wanted.contains(&name(entry)));
            assert_eq!(ours, exchange["body"], "{path}");
        }
    }
}

/// A1.1: the legacy roots; the core group is not listed, and autoscaling prefers v2.
#[test]
fn the_legacy_roots_are_those_recorded() {
    let exchanges = recorded("legacy_roots");
    let mut root = discovery::legacy_root("127.0.0.1:6443");
    assert_eq!(
        root["serverAddressByClientCIDRs"],
        json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}])
    );
    root["serverAddressByClientCIDRs"] = json!("<address>");
    assert_eq!(root, exchanges[0]["body"]);

    let wanted = &exchanges[1]["body"];
    let mut groups = discovery::group_list(kinds());
    let names: Vec<_> = wanted["groups"].as_array().unwrap().iter().map(name).collect();
    let list = groups["groups"].as_array_mut().unwrap();
    list.retain(|group| names.contains(&name(group)));
    list.sort_by_key(name);
    assert_eq!(&groups, wanted);
}

/// A1.1: one group; there is none for unknown groups and the core group.
#[test]
fn one_group_is_described_as_recorded() {
    for exchange in recorded("one_group") {
        let name = exchange["request"].as_str().unwrap().rsplit('/').next().unwrap();
        assert_eq!(discovery::group(kinds(), name).unwrap(), exchange["body"], "{name}");
    }
    assert_eq!(discovery::group(kinds(), "nope"), None);
    assert_eq!(discovery::group(kinds(), ""), None);
    assert_eq!(discovery::resource_list(kinds(), "apps", "v9"), None);
}

/// A1.3, A1.4: the aggregated form has subresources in their resources, and names kinds of other groups.
#[test]
fn aggregated_discovery_is_that_recorded() {
    for (recording, ours) in [
        ("aggregated_core", discovery::aggregated_core(kinds())),
        ("aggregated_groups", discovery::aggregated_groups(kinds())),
    ] {
        let wanted = recorded(recording)[0]["body"].clone();
        assert_eq!(in_scope(ours, &wanted), wanted, "{recording}");
    }
}

/// A1.5: a document does not depend on the time, so that its hash can be an ETag.
#[test]
fn a_document_is_the_same_each_time() {
    assert_eq!(
        discovery::aggregated_groups(kinds()).to_string(),
        discovery::aggregated_groups(kinds()).to_string()
    );
    let versions = &discovery::aggregated_core(kinds())["items"][0]["versions"];
    assert_eq!(versions[0]["freshness"], "Current");
}

/// Keeps the entries that the recording has, and removes groups and versions that equal the enclosing ones.
fn in_scope(mut ours: Value, wanted: &Value) -> Value {
    let wanted_items = wanted["items"].as_array().unwrap();
    let items = ours["items"].as_array_mut().unwrap();
    items.retain(|item| wanted_items.iter().any(|w| w["metadata"] == item["metadata"]));
    items.sort_by_key(|item| name(&item["metadata"]));
    for (item, wanted_item) in items.iter_mut().zip(wanted_items) {
        let group = name(&item["metadata"]);
        for version in item["versions"].as_array_mut().unwrap() {
            version.as_object_mut().unwrap().remove("freshness");
            let label = version["version"].as_str().unwrap().to_owned();
            let wanted_versions = wanted_item["versions"].as_array().unwrap();
            let wanted_version = wanted_versions.iter().find(|w| w["version"] == label.as_str()).unwrap();
            trim_resources(&mut version["resources"], &wanted_version["resources"], &group, &label);
        }
    }
    ours
}

fn trim_resources(resources: &mut Value, wanted: &Value, group: &str, version: &str) {
    let find = |list: &Value, key: &str, value: &Value| {
        list.as_array().into_iter().flatten().find(|entry| &entry[key] == value).cloned()
    };
    let list = resources.as_array_mut().unwrap();
    list.retain(|entry| find(wanted, "resource", &entry["resource"]).is_some());
    for entry in list {
        let wanted_entry = find(wanted, "resource", &entry["resource"]).unwrap();
        enclosed(entry, group, version);
        let object = entry.as_object_mut().unwrap();
        let Some(Value::Array(subresources)) = object.get_mut("subresources") else { continue };
        subresources
            .retain(|s| find(&wanted_entry["subresources"], "subresource", &s["subresource"]).is_some());
        for subresource in subresources.iter_mut() {
            enclosed(subresource, group, version);
        }
        if subresources.is_empty() {
            object.remove("subresources");
        }
    }
}

fn enclosed(entry: &mut Value, group: &str, version: &str) {
    let kind = entry["responseKind"].as_object_mut().unwrap();
    kind.retain(|key, value| !(key == "group" && *value == group || key == "version" && *value == version));
}

fn name(entry: &Value) -> String {
    entry["name"].as_str().unwrap_or("").to_owned()
}

fn recorded(case: &str) -> Vec<Value> {
    let path = format!("{}/../registry/tests/recorded/discovery.{case}.json", env!("CARGO_MANIFEST_DIR"));
    gantry_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
