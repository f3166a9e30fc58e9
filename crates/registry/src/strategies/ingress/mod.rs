//! The strategy of Ingresses.

pub(super) mod validation;

use gantry_json::json;

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Class").text_or("spec.ingressClassName", "<none>"),
    column::text("Hosts").computed(|object, _| {
        let hosts = cell::list(object, "spec.rules").iter().map(|rule| cell::text(rule, "host"));
        let hosts: Vec<_> = hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect();
        json!(cell::or(cell::few(&hosts, cell::MOST, ","), "*"))
    }),
    column::text("Address").computed(|object, _| json!(cell::load_balancer(object))),
    column::text("Ports").computed(|object, _| {
        json!(if cell::list(object, "spec.tls").is_empty() { "80" } else { "80, 443" })
    }),
    column::AGE,
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| validation::ingress(errors, old, new),
    validate_status: |errors, _, old, new| {
        validation::balancer_addresses(errors, old, new);
        if errors.all.is_empty() {
            errors.warnings.extend(validation::status_warnings(new));
        }
    },
    warnings: |warnings, old, new| {
        if old.is_none() {
            validation::warnings(warnings, new);
        }
    },
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: an Ingress without hosts is shown with `*`.
    #[test]
    fn an_ingress_without_hosts_shows_an_asterisk() {
        let plain = json!({"spec": {"rules": [{}]}});
        assert_eq!(STRATEGY.rows.cells(&plain, NOW)[1..5], ["<none>", "*", "", "80"]);
    }
}
