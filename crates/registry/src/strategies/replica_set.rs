//! The strategy of ReplicaSets.

use gantry_json::Value;

use super::KindStrategy;
use crate::defaults::pod;
use crate::defaults::setting::{Object, default, ensure};
use crate::lifecycle::disabled_fields;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path};
use crate::validation::status::{Counters, counters};
use crate::validation::workload::selector_and_template;
use crate::validation::{warnings, workload};

const COLUMNS: &[TableColumn] = &columns(column::wide("Selector").selector_at("spec.selector"));

/// Returns the columns of ReplicaSets or ReplicationControllers, whose selectors have different types.
pub(super) const fn columns(selector: TableColumn) -> [TableColumn; 8] {
    [
        column::NAME,
        column::number("Desired").number_at("spec.replicas"),
        column::number("Current").number_at("status.replicas"),
        column::number("Ready").number_at("status.readyReplicas"),
        column::AGE,
        column::CONTAINERS,
        column::IMAGES,
        selector,
    ]
}

const COUNTERS: Counters = Counters {
    counted: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    ],
    at_most_replicas: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
};

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    prepare: |_, old, new| disabled_fields::drop(old, new, disabled_fields::pod_template),
    validate: |errors, _, _, new| validate(errors, new),
    validate_change: |errors, old, new| workload::immutable_selector(errors, &old["spec"], &new["spec"]),
    validate_status: |errors, _, _, new| counters(errors, &new["status"], &COUNTERS),
    warnings: |warnings, old, new| {
        if old.is_none() {
            warnings::name(warnings, new, "Pod names and hostnames");
        }
        warnings::template(warnings, old, new);
    },
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn set_defaults(set: &mut Object) {
    let Some(spec) = ensure(set, "spec") else { return };
    default(spec, "replicas", 1);
    pod::template(spec);
}

/// Validates the spec.
fn validate(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    errors.not_negative(&at, spec, "replicas");
    errors.not_negative(&at, spec, "minReadySeconds");
    selector_and_template(errors, &at, spec);
}
