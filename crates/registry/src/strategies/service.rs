//! Services.

use super::Strategy;
use crate::admission::services;
use crate::defaults::network;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, text};
use crate::table::{self, Rows};
use crate::validation::{service, service_addresses};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: network::service,
    admit: |old, new| services::complete(new, old),
    validate_first: |errors, _, new| service_addresses::service_addresses(errors, new),
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            service::service_changes(errors, old, new);
        }
        service::service(errors, new);
    },
    validate_status: |errors, _, old, new| service::status(errors, old, new),
    warnings: |warnings, _, new| warnings.extend(service::warnings(&new["spec"])),
    quota_usage: |usage, service| usage.add_service(&service["spec"]),
    rows: Rows::new(table::network::SERVICE, table::network::service),
    selectable: SelectableFields::new(&[NAME, NAMESPACE, text("spec.clusterIP"), text("spec.type")]),
    ..Strategy::DEFAULT
};
