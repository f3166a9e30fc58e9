//! NetworkPolicies.

use super::Strategy;
use crate::defaults;
use crate::table::{Rows, network};
use crate::validation::network_policy;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::network::policy,
    validate: |errors, _, old, new| network_policy::policy(errors, old, new),
    warnings: |warnings, _, new| network_policy::warnings(warnings, new),
    rows: Rows::new(network::NETWORK_POLICY, network::network_policy),
    ..Strategy::DEFAULT
};
