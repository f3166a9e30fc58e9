//! PriorityClasses.

use serde_json::Value;

use super::Strategy;
use crate::defaults::cluster;
use crate::table::{Rows, storage};
use crate::validation::error_list::{ErrorList, Path, number, text};

/// The classes of the system, with their values.
const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
const SYSTEM_PREFIX: &str = "system-";
const USER_PRIORITY_MAX: i64 = 1_000_000_000;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: cluster::priority_class,
    validate: |errors, _, old, new| match old {
        None => validate_new(errors, new),
        Some(old) => validate_change(errors, old, new),
    },
    rows: Rows::new(storage::PRIORITY_CLASS, storage::priority_class),
    ..Strategy::DEFAULT
};

/// A new PriorityClass: the highest values and the names of the system are its own.
fn validate_new(errors: &mut ErrorList, class: &Value) {
    let name = text(&class["metadata"], "name");
    let is_ours = SYSTEM_CLASSES.contains(&(name, number(class, "value").unwrap_or(0)));
    if name.starts_with(SYSTEM_PREFIX) && !is_ours {
        let metadata = Path::new("metadata");
        let why = match SYSTEM_CLASSES.iter().find(|(other, _)| *other == name) {
            Some((_, value)) => format!("value of {name} PriorityClass must be {value}"),
            None => format!("{name} is not a known system priority class"),
        };
        let why = format!(
            "priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only. error: {why}"
        );
        errors.forbidden(&metadata.child("name"), why);
    }
    if !name.starts_with(SYSTEM_PREFIX)
        && number(class, "value").is_some_and(|value| value > USER_PRIORITY_MAX)
    {
        let why = format!("maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}");
        errors.forbidden(&Path::new("value"), why);
    }
    let policies = ["PreemptLowerPriority", "Never"];
    errors.one_of_if_set(&Path::new("preemptionPolicy"), &class["preemptionPolicy"], &policies);
}

fn validate_change(errors: &mut ErrorList, old: &Value, new: &Value) {
    if old["value"] != new["value"] {
        errors.forbidden(&Path::new("value"), "may not be changed in an update.");
    }
    let policy = "preemptionPolicy";
    errors.immutable(&Path::new(policy), old[policy] == new[policy], &new[policy]);
}
