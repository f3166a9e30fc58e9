//! The strategy of PodDisruptionBudgets.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, is_set, list};
use crate::validation::go_format::ordered_json;
use crate::validation::selector;
use crate::validation::status::{conditions, not_negative};
use crate::validation::workload::{at_most_100_percent, count_or_percent};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Min Available").computed(|object, _| bound(object, "spec.minAvailable")),
    column::text("Max Unavailable").computed(|object, _| bound(object, "spec.maxUnavailable")),
    column::number("Allowed Disruptions").number_at("status.disruptionsAllowed"),
    column::AGE,
];

const COUNTERS: [&str; 4] = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    // The metadata of a new budget is validated only if its spec is valid.
    validate_first: |errors, old, new| {
        if old.is_none() {
            validate(errors, new);
        }
    },
    validate: |errors, _, _, new| validate(errors, new),
    validate_status: |errors, _, _, new| {
        conditions(errors, list(&new["status"], "conditions"));
        not_negative(errors, &new["status"], &COUNTERS);
    },
    any_finalizers: true,
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Validates the spec.
fn bound(budget: &Value, path: &str) -> Value {
    json!(cell::plain(cell::at(budget, path)).unwrap_or_else(|| "N/A".to_owned()))
}

fn validate(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    if is_set(spec, "minAvailable") && is_set(spec, "maxUnavailable") {
        let selector = match &spec["selector"] {
            Value::Null => "null".to_owned(),
            selector => ordered_json("meta/v1.LabelSelector", selector),
        };
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{selector},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            spec["minAvailable"], spec["maxUnavailable"], spec["unhealthyPodEvictionPolicy"]
        );
        errors.invalid_formatted(&at, shown, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        count_or_percent(errors, &at.child(field), &spec[field]);
        at_most_100_percent(errors, &at.child(field), &spec[field]);
    }
    selector::terms(errors, &at.child("selector"), &spec["selector"]);
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    errors.one_of_if_set(
        &at.child("unhealthyPodEvictionPolicy"),
        &spec["unhealthyPodEvictionPolicy"],
        &policies,
    );
}
