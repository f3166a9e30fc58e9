//! What an object is like, in paragraphs for people (K3).
//!
//! Pure: the objects in, a text out. Cells end in tabs, and the whole is aligned at the end.

mod amounts;
mod container;
pub(crate) mod deployment;
mod environment;
mod events;
mod generic;
mod marks;
pub(crate) mod node;
pub(crate) mod pod;
pub(crate) mod replica_set;
mod secret;
pub(crate) mod template;
mod volume;

pub(crate) use events::{age as event_age, events, last as event_last};
pub(crate) use generic::object;
pub(crate) use secret::secret;

use gantry_registry::Moment;
use gantry_registry::table::short;
use serde_json::Value;

use crate::field::{list, text};

/// How long ago a time of an object was.
pub(crate) fn ago(now: Moment, time: &Value) -> String {
    let then = time.as_str().and_then(moment);
    then.map_or_else(|| "<unknown>".to_owned(), |then| short(now.seconds_after(then)))
}

/// A time of an object in RFC 1123 with a numeric zone; `<unset>` if there is none.
fn date(time: &Value) -> String {
    match time.as_str().and_then(moment) {
        Some(moment) => moment.http_date().replace("GMT", "+0000"),
        None => "<unset>".to_owned(),
    }
}

fn moment(text: &str) -> Option<Moment> {
    match text.split_once('.') {
        Some((whole, _)) => Moment::parse(&format!("{whole}Z")),
        None => Moment::parse(text),
    }
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
