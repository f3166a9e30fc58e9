//! The strategy of Nodes.

mod validation;

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::defaults::setting;
use crate::defaults::setting::{Object, child, default, ensure, is_empty, is_unset, object};
use crate::lifecycle::disabled_fields;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const ROLE_LABEL: &str = "node-role.kubernetes.io/";
const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Status").computed(|object, _| json!(state(object))),
    column::text("Roles").computed(|object, _| json!(roles(object))),
    column::AGE,
    column::text("Version").text_at("status.nodeInfo.kubeletVersion"),
    column::wide("Internal-IP").computed(|object, _| json!(address(object, "InternalIP"))),
    column::wide("External-IP").computed(|object, _| json!(address(object, "ExternalIP"))),
    column::wide("OS-Image").text_or("status.nodeInfo.osImage", "<unknown>"),
    column::wide("Kernel-Version").computed(|object, _| json!(kernel(cell::at(object, "status.nodeInfo")))),
    column::wide("Container-Runtime").text_or("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    keeps_sent_status: true,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |node, visit| {
            disabled_fields::fields(node, "/spec", &["configSource", "podPreemptionPolicy"], visit);
        });
    },
    admit: |old, new| {
        if old.is_none() {
            taint_not_ready(new);
        }
    },
    validate: |errors, _, _, new| validation::node(errors, new),
    validate_change: validation::changes,
    validate_status: |errors, _, _, new| validation::status(errors, new),
    warnings: |warnings, _, new| warnings.extend(validation::warnings(&new["spec"])),
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        field("spec.unschedulable", Source::Flag("spec.unschedulable")),
    ]),
    ..KindStrategy::DEFAULT
};

fn address<'n>(node: &'n Value, kind: &str) -> &'n str {
    let found = cell::list(node, "status.addresses").iter().find(|address| address["type"] == kind);
    found.map_or("<none>", |address| cell::text(address, "address"))
}

fn state(node: &Value) -> String {
    let ready = cell::list(node, "status.conditions").iter().find(|condition| condition["type"] == "Ready");
    let status = match ready.map(|condition| cell::text(condition, "status")) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    };
    let cordoned = cell::at(node, "spec.unschedulable") == true;
    format!("{status}{}", if cordoned { ",SchedulingDisabled" } else { "" })
}

fn roles(node: &Value) -> String {
    let labels = cell::at(node, "metadata.labels").as_object().into_iter().flatten();
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
    match (cell::text(info, "kernelVersion"), cell::text(info, "architecture")) {
        ("", _) => "<unknown>".to_owned(),
        (version, "") => version.to_owned(),
        (version, architecture) => format!("{version} ({architecture})"),
    }
}

/// Sets `podCIDR` and `podCIDRs` from each other, and `allocatable` from `capacity`.
fn set_defaults(node: &mut Object) {
    if let Some(spec) = child(node, "spec") {
        let range = setting::text(spec, "podCIDR").to_owned();
        let first = spec.get("podCIDRs").and_then(|ranges| ranges.get(0)).cloned();
        match first {
            Some(first) if range.is_empty() => {
                spec.insert("podCIDR", first);
            }
            first if !range.is_empty() && first.as_ref() != Some(&json!(range)) => {
                spec.insert("podCIDRs", json!([range]));
            }
            _ => {}
        }
    }
    if let Some(status) = child(node, "status")
        && is_unset(status, "allocatable")
        && !is_empty(status, "capacity")
    {
        let capacity = status["capacity"].clone();
        status.insert("allocatable", capacity);
    }
}

/// Taints a new node as not ready.
fn taint_not_ready(node: &mut Value) {
    let Some(spec) = object(node).and_then(|node| ensure(node, "spec")) else { return };
    default(spec, "taints", json!([]));
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let same = |other: &Value| other["key"] == taint["key"] && other["effect"] == taint["effect"];
    if let Some(Value::Array(taints)) = spec.get_mut("taints")
        && !taints.iter().any(same)
    {
        taints.push(taint);
    }
}
