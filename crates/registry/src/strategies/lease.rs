//! The strategy of Leases.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::lifecycle::disabled_fields;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path, number};

const COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("Holder").text_at("spec.holderIdentity"), column::AGE];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |lease, visit| {
            disabled_fields::fields(lease, "/spec", &["strategy", "preferredHolder"], visit);
        });
    },
    validate: |errors, _, _, new| validate(errors, &Path::new("spec"), &new["spec"]),
    any_finalizers: true,
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn validate(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    if let Some(seconds) = number(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        errors.invalid(&at.child("leaseDurationSeconds"), &json!(seconds), "must be greater than 0");
    }
    errors.not_negative(at, spec, "leaseTransitions");
}
