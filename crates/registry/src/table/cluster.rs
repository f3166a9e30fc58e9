//! Rows of what the cluster itself is made of: nodes, namespaces, configuration, rights, storage.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::column::{AGE, CREATED, Column, NAME, text as column, wide};
use super::field::{
    access_modes, age, at, created, has_condition, list, members, name, plain, text, text_or,
};
use crate::Timestamp;

const ROLE_LABEL: &str = "node-role.kubernetes.io/";

pub(crate) const ANY: &[Column] = &[NAME, CREATED];
pub(crate) const NAMESPACE: &[Column] = &[NAME, column("Status"), AGE];
pub(crate) const NODE: &[Column] = &[
    NAME,
    column("Status"),
    column("Roles"),
    AGE,
    column("Version"),
    wide("Internal-IP"),
    wide("External-IP"),
    wide("OS-Image"),
    wide("Kernel-Version"),
    wide("Container-Runtime"),
];
pub(crate) const CONFIG_MAP: &[Column] = &[NAME, column("Data"), AGE];
pub(crate) const SECRET: &[Column] = &[NAME, column("Type"), column("Data"), AGE];
pub(crate) const SERVICE_ACCOUNT: &[Column] = &[NAME, AGE];
pub(crate) const LEASE: &[Column] = &[NAME, column("Holder"), AGE];
pub(crate) const ROLE_BINDING: &[Column] =
    &[NAME, column("Role"), AGE, wide("Users"), wide("Groups"), wide("ServiceAccounts")];
pub(crate) const RESOURCE_QUOTA: &[Column] = &[NAME, column("Request"), column("Limit"), AGE];
pub(crate) const VOLUME_CLAIM: &[Column] = &[
    NAME,
    column("Status"),
    column("Volume"),
    column("Capacity"),
    column("Access Modes"),
    column("StorageClass"),
    column("VolumeAttributesClass"),
    AGE,
    wide("VolumeMode"),
];
pub(crate) const RESOURCE_DEFINITION: &[Column] = &[
    NAME,
    column("Scope"),
    column("Versions"),
    CREATED,
    wide("Group"),
    wide("Kind"),
    wide("ShortNames"),
    wide("Established"),
];

pub(crate) fn any(object: &Value, _: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(created(object))]
}

pub(crate) fn namespace(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(text(object, "status.phase")), json!(age(object, now))]
}

pub(crate) fn node(object: &Value, now: Timestamp) -> Vec<Value> {
    let address = |kind: &str| {
        let found = list(object, "status.addresses").iter().find(|address| address["type"] == kind);
        found.map_or("<none>", |address| text(address, "address"))
    };
    let info = at(object, "status.nodeInfo");
    vec![
        json!(name(object)),
        json!(node_status(object)),
        json!(node_roles(object)),
        json!(age(object, now)),
        json!(text(info, "kubeletVersion")),
        json!(address("InternalIP")),
        json!(address("ExternalIP")),
        json!(text_or(info, "osImage", "<unknown>")),
        json!(kernel(info)),
        json!(text_or(info, "containerRuntimeVersion", "<unknown>")),
    ]
}

pub(crate) fn config_map(object: &Value, now: Timestamp) -> Vec<Value> {
    let keys = members(object, "data") + members(object, "binaryData");
    vec![json!(name(object)), json!(keys), json!(age(object, now))]
}

pub(crate) fn secret(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(text(object, "type")),
        json!(members(object, "data")),
        json!(age(object, now)),
    ]
}

pub(crate) fn service_account(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(age(object, now))]
}

pub(crate) fn lease(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(text(object, "spec.holderIdentity")), json!(age(object, now))]
}

pub(crate) fn role_binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let subjects = |kind: &str| {
        let chosen = list(object, "subjects").iter().filter(|subject| subject["kind"] == kind);
        let names = chosen.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", text(subject, "namespace"), name_of(subject)),
            _ => name_of(subject).to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    vec![
        json!(name(object)),
        json!(format!("{}/{}", text(object, "roleRef.kind"), text(object, "roleRef.name"))),
        json!(age(object, now)),
        json!(subjects("User")),
        json!(subjects("Group")),
        json!(subjects("ServiceAccount")),
    ]
}

/// Used and allowed amounts, as the status has them: what is not counted yet does not show.
pub(crate) fn resource_quota(object: &Value, now: Timestamp) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in at(object, "status.hard").as_object().into_iter().flatten() {
        let used = plain(&object["status"]["used"][resource]).unwrap_or_else(|| "0".to_owned());
        let amount = format!("{resource}: {used}/{}", plain(hard).unwrap_or_default());
        if resource.starts_with("limits") { &mut limits } else { &mut requests }.push(amount);
    }
    vec![json!(name(object)), json!(requests.join(", ")), json!(limits.join(", ")), json!(age(object, now))]
}

pub(crate) fn volume_claim(object: &Value, now: Timestamp) -> Vec<Value> {
    let deleted = !at(object, "metadata.deletionTimestamp").is_null();
    let bound = !text(object, "spec.volumeName").is_empty();
    let capacity = || plain(at(object, "status.capacity.storage")).unwrap_or_else(|| "0".to_owned());
    vec![
        json!(name(object)),
        json!(if deleted { "Terminating" } else { text(object, "status.phase") }),
        json!(text(object, "spec.volumeName")),
        json!(if bound { capacity() } else { String::new() }),
        json!(if bound { access_modes(list(object, "status.accessModes")) } else { String::new() }),
        json!(text(object, "spec.storageClassName")),
        json!(text_or(object, "spec.volumeAttributesClassName", "<unset>")),
        json!(age(object, now)),
        json!(text_or(object, "spec.volumeMode", "<unset>")),
    ]
}

pub(crate) fn resource_definition(object: &Value, _: Timestamp) -> Vec<Value> {
    let versions: Vec<_> = list(object, "spec.versions").iter().map(name_of).collect();
    let short: Vec<_> = list(object, "spec.names.shortNames").iter().filter_map(Value::as_str).collect();
    let established = if has_condition(object, "Established", "True") { "True" } else { "False" };
    vec![
        json!(name(object)),
        json!(text(object, "spec.scope")),
        json!(versions.join(",")),
        json!(created(object)),
        json!(text(object, "spec.group")),
        json!(text(object, "spec.names.kind")),
        json!(short.join(",")),
        json!(established),
    ]
}

fn name_of(part: &Value) -> &str {
    text(part, "name")
}

fn node_status(node: &Value) -> String {
    let ready = list(node, "status.conditions").iter().find(|condition| condition["type"] == "Ready");
    let status = match ready.map(|condition| text(condition, "status")) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    };
    let cordoned = at(node, "spec.unschedulable") == true;
    format!("{status}{}", if cordoned { ",SchedulingDisabled" } else { "" })
}

fn node_roles(node: &Value) -> String {
    let labels = at(node, "metadata.labels").as_object().into_iter().flatten();
    let roles: BTreeSet<_> = labels
        .filter_map(|(key, value)| match key.strip_prefix(ROLE_LABEL) {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() { "<none>".to_owned() } else { roles.into_iter().collect::<Vec<_>>().join(",") }
}

fn kernel(info: &Value) -> String {
    match (text(info, "kernelVersion"), text(info, "architecture")) {
        ("", _) => "<unknown>".to_owned(),
        (version, "") => version.to_owned(),
        (version, architecture) => format!("{version} ({architecture})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: quotas show what is used of what is allowed.
    #[test]
    fn a_quota_shows_requests_and_limits_apart() {
        let quota = json!({"status": {
            "hard": {"pods": "5", "requests.cpu": "2", "limits.cpu": "4"}, "used": {"pods": "1", "limits.cpu": "500m"},
        }});
        assert_eq!(resource_quota(&quota, NOW)[1..3], ["pods: 1/5, requests.cpu: 0/2", "limits.cpu: 500m/4"]);
    }

    /// Appendix C: claims show what they got, not what they asked for.
    #[test]
    fn a_claim_has_capacity_once_it_is_bound() {
        let mut claim = json!({
            "spec": {"storageClassName": "fast", "volumeMode": "Filesystem"},
            "status": {"phase": "Pending", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"]},
        });
        assert_eq!(
            volume_claim(&claim, NOW)[1..],
            ["Pending", "", "", "", "fast", "<unset>", "<unknown>", "Filesystem"]
        );
        claim["spec"]["volumeName"] = json!("pv1");
        claim["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(volume_claim(&claim, NOW)[1..5], ["Terminating", "pv1", "1Gi", "RWO,RWX"]);
    }

    /// Appendix C: custom resource definitions.
    #[test]
    fn a_definition_lists_its_versions() {
        let definition = json!({
            "metadata": {"name": "foos.example.com", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {
                "scope": "Namespaced", "group": "example.com", "versions": [{"name": "v1"}, {"name": "v2"}],
                "names": {"kind": "Foo", "shortNames": ["fo"]},
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        });
        assert_eq!(
            resource_definition(&definition, NOW)[1..],
            ["Namespaced", "v1,v2", "2026-01-01T00:00:00Z", "example.com", "Foo", "fo", "True"]
        );
    }
}
