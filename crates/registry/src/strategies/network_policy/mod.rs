//! The strategy of NetworkPolicies.

mod validation;

use gantry_json::json;

use super::KindStrategy;
use crate::defaults::setting::{Object, default, each, ensure, is_empty};
use crate::table::column::TableColumn;
use crate::table::{Rows, column};

const COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("Pod-Selector").selector_at("spec.podSelector"), column::AGE];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| validation::policy(errors, old, new),
    warnings: |warnings, _, new| validation::warnings(warnings, new),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Sets the default policy types: `Ingress`, and `Egress` if there are egress rules.
fn set_defaults(policy: &mut Object) {
    let Some(spec) = ensure(policy, "spec") else { return };
    for direction in ["ingress", "egress"] {
        for rule in each(spec, direction) {
            for port in each(rule, "ports") {
                default(port, "protocol", "TCP");
            }
        }
    }
    if is_empty(spec, "policyTypes") {
        let types = if is_empty(spec, "egress") { json!(["Ingress"]) } else { json!(["Ingress", "Egress"]) };
        spec.insert("policyTypes", types);
    }
}
