//! Ingresses.

use super::Strategy;
use crate::table::{Rows, network};
use crate::validation::ingress;

pub(super) const STRATEGY: Strategy = Strategy {
    validate: |errors, _, old, new| ingress::ingress(errors, old, new),
    validate_status: |errors, _, old, new| {
        ingress::balancer_addresses(errors, old, new);
        if errors.all.is_empty() {
            errors.warnings.extend(ingress::status_warnings(new));
        }
    },
    warnings: |warnings, old, new| {
        if old.is_none() {
            ingress::warnings(warnings, new);
        }
    },
    rows: Rows::new(network::INGRESS, network::ingress),
    ..Strategy::DEFAULT
};
