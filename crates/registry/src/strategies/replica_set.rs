//! The strategy of ReplicaSets.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::pod;
use crate::defaults::setting::{Object, default, ensure};
use crate::lifecycle::disabled_fields;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path};
use crate::validation::status::{Counters, counters};
use crate::validation::workload::selector_and_template;
use crate::validation::{warnings, workload};

pub(super) const COLUMNS: &[Column] = &[
    column::NAME,
    column::number("Desired"),
    column::number("Current"),
    column::number("Ready"),
    column::AGE,
    column::wide("Containers"),
    column::wide("Images"),
    column::wide("Selector"),
];

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
    validate: |errors, _, old, new| {
        validate(errors, new);
        if let Some(old) = old {
            workload::immutable_selector(errors, &old["spec"], &new["spec"]);
        }
    },
    validate_status: |errors, _, _, new| counters(errors, &new["status"], &COUNTERS),
    warnings: |warnings, old, new| {
        if old.is_none() {
            warnings::name(warnings, new, "Pod names and hostnames");
        }
        warnings::template(warnings, old, new);
    },
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    replica_cells(object, now, &cell::selector(object, "spec.selector"))
}

/// Returns the cells of a ReplicaSet or ReplicationController with this selector.
pub(super) fn replica_cells(object: &Value, now: Timestamp, selector: &str) -> Vec<Value> {
    vec![
        json!(cell::name(object)),
        json!(cell::number(object, "spec.replicas")),
        json!(cell::number(object, "status.replicas")),
        json!(cell::number(object, "status.readyReplicas")),
        json!(cell::age(object, now)),
        json!(cell::joined(cell::list(object, cell::CONTAINERS), "name")),
        json!(cell::joined(cell::list(object, cell::CONTAINERS), "image")),
        json!(selector),
    ]
}

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
