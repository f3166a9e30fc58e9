//! The strategy of Ingresses.

pub(super) mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[
    column::NAME,
    column::text("Class"),
    column::text("Hosts"),
    column::text("Address"),
    column::text("Ports"),
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
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let hosts = cell::list(object, "spec.rules").iter().map(|rule| cell::text(rule, "host"));
    let hosts: Vec<_> = hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect();
    let ports = if cell::list(object, "spec.tls").is_empty() { "80" } else { "80, 443" };
    vec![
        json!(cell::name(object)),
        json!(cell::text_or(object, "spec.ingressClassName", "<none>")),
        json!(cell::or(cell::few(&hosts, cell::MOST, ","), "*")),
        json!(cell::load_balancer(object)),
        json!(ports),
        json!(cell::age(object, now)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: an ingress for every host.
    #[test]
    fn an_ingress_without_hosts_is_for_all() {
        let plain = json!({"spec": {"rules": [{}]}});
        assert_eq!(cells(&plain, NOW)[1..5], ["<none>", "*", "", "80"]);
    }
}
