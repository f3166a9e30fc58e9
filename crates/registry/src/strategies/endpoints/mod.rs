//! Endpoints and EndpointSlices.

mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::setting::{Object, default, default_text, each};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::semantically_equal;

const COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("Endpoints").computed(endpoints_cell), column::AGE];
const SLICE_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("AddressType").text_at("addressType"),
    column::text("Ports").computed(|object, _| {
        let port = |port: &Value| {
            cell::plain(&port["port"])
                .or_else(|| cell::plain(&port["name"]))
                .unwrap_or_else(|| "*".to_owned())
        };
        let ports: Vec<_> = cell::list(object, "ports").iter().map(port).collect();
        json!(cell::or(cell::few(&ports, cell::MOST, ","), "<unset>"))
    }),
    column::text("Endpoints").computed(|object, _| {
        let addresses =
            cell::list(object, "endpoints").iter().flat_map(|endpoint| cell::list(endpoint, "addresses"));
        let addresses: Vec<_> = addresses.filter_map(cell::plain).collect();
        json!(cell::or(cell::few(&addresses, cell::MOST, ","), "<unset>"))
    }),
    column::AGE,
];

pub(super) const ENDPOINTS: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| validation::endpoints(errors, old, new),
    warnings: |warnings, _, new| validation::warnings(warnings, new),
    rows: Rows::new(COLUMNS),
    deprecation: |_| Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    ..KindStrategy::DEFAULT
};

pub(super) const SLICE: KindStrategy = KindStrategy {
    defaults: set_slice_defaults,
    admit: |old, new| drop_topology(new, old),
    validate: |errors, _, old, new| validation::slice(errors, old, new),
    warnings: |warnings, old, new| match old {
        None => validation::slice_warnings(warnings, new),
        Some(_) => warnings.extend(validation::slice_change_warnings(new)),
    },
    rows: Rows::new(SLICE_COLUMNS),
    ..KindStrategy::DEFAULT
};

fn endpoints_cell(object: &Value, _: Timestamp) -> Value {
    let mut all = Vec::new();
    for subset in cell::list(object, "subsets") {
        let addresses = || cell::list(subset, "addresses").iter().map(|address| cell::text(address, "ip"));
        let ports = cell::list(subset, "ports");
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            all.extend(addresses().map(|ip| host_port(ip, cell::number(port, "port"))));
        }
    }
    json!(cell::or(cell::few(&all, cell::MOST, ","), "<none>"))
}

fn host_port(ip: &str, port: i64) -> String {
    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
}

fn set_defaults(endpoints: &mut Object) {
    for subset in each(endpoints, "subsets") {
        for port in each(subset, "ports") {
            default_text(port, "protocol", "TCP");
        }
    }
}

fn set_slice_defaults(slice: &mut Object) {
    for port in each(slice, "ports") {
        default(port, "name", "");
        default(port, "protocol", "TCP");
    }
}

/// Drops the deprecated topology of endpoints, unless the endpoints are unchanged.
fn drop_topology(slice: &mut Value, stored: Option<&Value>) {
    let endpoints = |slice: &Value| json!({"endpoints": slice["endpoints"]});
    let is_kept = |stored: &Value| {
        semantically_equal("discovery/v1.EndpointSlice", &endpoints(stored), &endpoints(slice))
    };
    if stored.is_some_and(is_kept) {
        return;
    }
    let all = slice.get_mut("endpoints").and_then(Value::as_array_mut).into_iter().flatten();
    for endpoint in all.filter_map(Value::as_object_mut) {
        endpoint.remove("deprecatedTopology");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a row shows the first three endpoints and the number of others.
    #[test]
    fn of_many_endpoints_three_are_shown() {
        let addresses = json!([{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]);
        let subset = json!({"addresses": addresses, "ports": [{"port": 80}, {"port": 443}]});
        assert_eq!(
            ENDPOINTS.rows.cells(&json!({"subsets": [subset]}), NOW)[1],
            "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more..."
        );
        assert_eq!(
            ENDPOINTS.rows.cells(&json!({"subsets": [{"addresses": addresses}]}), NOW)[1],
            "10.0.0.1,fd00::1"
        );
        assert_eq!(ENDPOINTS.rows.cells(&json!({}), NOW)[1], "<none>");
    }

    #[test]
    fn a_port_without_a_number_is_shown_by_its_name() {
        let table = [(json!({}), "*"), (json!({"name": "any"}), "any"), (json!({"name": ""}), "<unset>")];
        for (port, shown) in table {
            let slice = json!({"ports": [port], "addressType": "IPv4"});
            assert_eq!(SLICE.rows.cells(&slice, NOW)[2], shown);
        }
    }
}
