//! The table of conditions of kinds whose conditions have the time of the last probe or heartbeat: nodes and claims.

use gantry_json::Value;

use super::date_or_zero;
use crate::field::{at, list, text};

/// The table, or nothing if there are no conditions. The pair is the title of the first time and the pointer to it.
pub(super) fn conditions(object: &Value, (title, time_pointer): (&str, &str)) -> String {
    let conditions = list(object, "/status/conditions");
    if conditions.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "Conditions:\n  Type\tStatus\t{title}\tLastTransitionTime\tReason\tMessage\n  \
         ----\t------\t-----------------\t------------------\t------\t-------\n",
    );
    for one in conditions {
        out += &format!(
            "  {} \t{} \t{} \t{} \t{} \t{}\n",
            text(one, "/type"),
            text(one, "/status"),
            date_or_zero(at(one, time_pointer)),
            date_or_zero(at(one, "/lastTransitionTime")),
            text(one, "/reason"),
            text(one, "/message")
        );
    }
    out
}
