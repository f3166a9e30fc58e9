//! Endpoints.

use super::Strategy;
use crate::defaults::network;
use crate::table::{self, Rows};
use crate::validation::endpoints;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: network::endpoints,
    validate: |errors, _, old, new| endpoints::endpoints(errors, old, new),
    warnings: |warnings, _, new| endpoints::warnings(warnings, new),
    rows: Rows::new(table::network::ENDPOINTS, table::network::endpoints),
    deprecation: |_| Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    ..Strategy::DEFAULT
};
