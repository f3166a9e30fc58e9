//! Describes objects for users (K3).
//!
//! Pure: objects in, text out. Cells end in tabs, and columns are aligned at the end.

mod autoscaler;
mod conditions;
mod config_map;
mod container;
pub(crate) mod deployment;
mod disruption_budget;
mod endpoints;
mod environment;
mod events;
mod generic;
pub(crate) mod ingress;
mod job;
mod labels_annotations;
mod limits;
mod network_policy;
pub(crate) mod node;
mod persistent_volume;
pub(crate) mod pod;
mod rbac;
pub(crate) mod replica_set;
mod resource_list;
mod secret;
mod service;
mod service_account;
mod service_address;
mod storage;
pub(crate) mod template;
mod volume;

pub(crate) use autoscaler::autoscaler;
pub(crate) use config_map::config_map;
pub(crate) use disruption_budget::{disruption_budget, priority_class};
pub(crate) use endpoints::{endpoint_slice, endpoints};
pub(crate) use events::{age as event_age, events, last as event_last};
pub(crate) use generic::object;
pub(crate) use job::{cron_job, job};
pub(crate) use limits::{limit_range, namespace, resource_quota};
pub(crate) use network_policy::network_policy;
pub(crate) use persistent_volume::{claim, persistent_volume};
pub(crate) use rbac::{binding, role};
pub(crate) use secret::secret;
pub(crate) use service::service;
pub(crate) use service_account::service_account;
pub(crate) use service_address::{ip_address, service_cidr};
pub(crate) use storage::{csi_node, storage_class, volume_attributes_class};

use gantry_json::Value;
use gantry_primitives::Timestamp;
use gantry_primitives::age::short;

use crate::field::{at, list, text};
use labels_annotations::{annotations, labels};

/// Name, namespace, labels and annotations, as most descriptions begin.
fn heading(object: &Value) -> String {
    let (name, namespace) = (text(object, "/metadata/name"), text(object, "/metadata/namespace"));
    let metadata = labels("Labels:", "", object, "/metadata/labels");
    let metadata = metadata + &annotations("Annotations:", "", object, "/metadata/annotations");
    format!("Name:\t{name}\nNamespace:\t{namespace}\n{metadata}")
}

/// Name, labels and annotations, as descriptions of cluster-scoped objects begin.
fn name_labels_annotations(object: &Value) -> String {
    let metadata = labels("Labels:", "", object, "/metadata/labels");
    let metadata = metadata + &annotations("Annotations:", "", object, "/metadata/annotations");
    format!("Name:\t{}\n{metadata}", text(object, "/metadata/name"))
}

/// The text, or `<none>` if it is empty.
fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".to_owned() } else { text.to_owned() }
}

/// Conditions with their transition times and reasons, under their title.
fn condition_table(conditions: &[Value]) -> String {
    format!("Conditions:\n{}", condition_rows(conditions))
}

fn condition_rows(conditions: &[Value]) -> String {
    let mut out = String::from(
        "  Type\tStatus\tLastTransitionTime\tReason\tMessage\n  ----\t------\t------------------\t------\t-------\n",
    );
    for one in conditions {
        let changed = date_or_zero(at(one, "/lastTransitionTime"));
        let (kind, status) = (text(one, "/type"), text(one, "/status"));
        let (reason, message) = (text(one, "/reason"), text(one, "/message"));
        out += &format!("  {kind}\t{status}\t{changed}\t{reason}\t{message}\n");
    }
    out
}

/// A time of an object as Go prints it.
fn go_time(time: &Value) -> String {
    let shown = time.as_str().unwrap_or_default().trim_end_matches('Z').replace('T', " ");
    format!("{shown} +0000 UTC")
}

/// How long ago a time of an object was.
pub(crate) fn ago(now: Timestamp, time: &Value) -> String {
    let then = time.as_str().and_then(Timestamp::parse);
    then.map_or_else(|| "<unknown>".to_owned(), |then| short(now.seconds_after(then)))
}

/// A time of an object in RFC 1123 with a numeric zone; `<unset>` if there is none.
fn date(time: &Value) -> String {
    match time.as_str().and_then(Timestamp::parse) {
        Some(time) => time.http_date().replace("GMT", "+0000"),
        None => "<unset>".to_owned(),
    }
}

/// As `date`, for a time that Go cannot omit: an absent one is Go's zero time.
fn date_or_zero(time: &Value) -> String {
    if time.is_null() { "Mon, 01 Jan 0001 00:00:00 +0000".to_owned() } else { date(time) }
}

/// The controller of an object: `ReplicaSet/web-1`.
fn controller(object: &Value) -> Option<String> {
    let owners = list(object, "/metadata/ownerReferences");
    let owner = owners.iter().find(|owner| owner["controller"] == true)?;
    Some(format!("{}/{}", text(owner, "/kind"), text(owner, "/name")))
}

/// The conditions of a Deployment or a ReplicaSet, in the order in which they are stored (K3.4).
fn conditions(object: &Value) -> String {
    let conditions = list(object, "/status/conditions");
    if conditions.is_empty() {
        return String::new();
    }
    let mut out = String::from("Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------\n");
    for condition in conditions {
        let cells = ["type", "status", "reason"].map(|cell| text(condition, &format!("/{cell}")).to_owned());
        out.push_str(&format!("  {} \t{}\t{}\n", cells[0], cells[1], cells[2]));
    }
    out
}
