//! EndpointSlices.

use super::Strategy;
use crate::defaults::network;
use crate::table::{self, Rows};
use crate::validation::endpoints;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: network::endpoint_slice,
    admit: |old, new| crate::admission::endpoints::drop_topology(new, old),
    validate: |errors, _, old, new| endpoints::slice(errors, old, new),
    warnings: |warnings, old, new| match old {
        None => endpoints::slice_warnings(warnings, new),
        Some(_) => warnings.extend(endpoints::slice_change_warnings(new)),
    },
    rows: Rows::new(table::network::ENDPOINT_SLICE, table::network::endpoint_slice),
    ..Strategy::DEFAULT
};
