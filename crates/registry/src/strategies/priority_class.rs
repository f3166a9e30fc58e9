//! The strategy of PriorityClasses.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::admission::AdmissionCheck;
use crate::defaults::setting::{Object, default};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, number, text};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::number("Value").number_at("value"),
    column::boolean("Global-Default").computed(|object, _| json!(cell::at(object, "globalDefault") == true)),
    column::AGE,
    column::text("PreemptionPolicy").text_at("preemptionPolicy"),
];

/// The system classes with their values.
const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

const SYSTEM_PREFIX: &str = "system-";

const USER_PRIORITY_MAX: i64 = 1_000_000_000;

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| match old {
        None => validate_new(errors, new),
        Some(old) => validate_change(errors, old, new),
    },
    admission_checks: &[AdmissionCheck::OneDefaultClass],
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Validates a new PriorityClass: the highest values and the prefix `system-` are reserved.
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

fn set_defaults(class: &mut Object) {
    default(class, "preemptionPolicy", "PreemptLowerPriority");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    /// Appendix C: the row of a PriorityClass.
    #[test]
    fn a_class_shows_its_value_and_policy() {
        let urgent = json!({"metadata": {"name": "urgent"}, "value": 10, "preemptionPolicy": "Never"});
        assert_eq!(
            STRATEGY.rows.cells(&urgent, Timestamp::from_secs(0)),
            [json!("urgent"), json!(10), json!(false), json!("<unknown>"), json!("Never")]
        );
    }
}
