//! Endpoints and EndpointSlices, and the addresses of slices in a line.

use gantry_json::Value;

use super::{heading, or_none};
use crate::field::{list, number, shown, text};

/// The most addresses that are shown in a line.
const SHOWN: usize = 3;

/// The addresses behind a named port of a Service, in a line.
pub(super) fn reachable(slices: &[Value], port_name: &str) -> String {
    if slices.is_empty() {
        return "<none>".to_owned();
    }
    let (mut addresses, mut is_cut) = (Vec::new(), false);
    for slice in slices {
        let ports = list(slice, "/ports");
        let mut add = |port: Option<i64>| {
            for endpoint in list(slice, "/endpoints") {
                // kubectl decides that addresses are cut before it checks whether the endpoint is ready.
                is_cut |= addresses.len() >= SHOWN;
                if endpoint.pointer("/conditions/ready") != Some(&Value::Bool(false)) {
                    addresses.push(address(text(endpoint, "/addresses/0"), port));
                }
            }
        };
        if ports.is_empty() {
            add(None);
        }
        for port in ports.iter().filter(|port| text(port, "/name") == port_name) {
            add(Some(number(port, "/port")));
        }
    }
    let more = addresses.len().saturating_sub(SHOWN);
    addresses.truncate(SHOWN);
    let listed = addresses.join(",");
    if is_cut { format!("{listed} + {more} more...") } else { listed }
}

fn address(address: &str, port: Option<i64>) -> String {
    match port {
        None => address.to_owned(),
        Some(port) if address.contains(':') => format!("[{address}]:{port}"),
        Some(port) => format!("{address}:{port}"),
    }
}

/// An Endpoints object.
pub(crate) fn endpoints(object: &Value) -> String {
    let mut out = heading(object) + "Subsets:\n";
    for subset in list(object, "/subsets") {
        for (title, field) in [("Addresses", "/addresses"), ("NotReadyAddresses", "/notReadyAddresses")] {
            let addresses: Vec<&str> = list(subset, field).iter().map(|one| text(one, "/ip")).collect();
            out += &format!("  {title}:\t{}\n", or_none(&addresses.join(",")));
        }
        let ports = list(subset, "/ports");
        if !ports.is_empty() {
            out += &format!("  Ports:\n{}", port_table("    ", ports));
        }
        out += "\n";
    }
    out
}

/// An EndpointSlice.
pub(crate) fn endpoint_slice(slice: &Value) -> String {
    let mut out = heading(slice) + &format!("AddressType:\t{}\n", text(slice, "/addressType"));
    let ports = list(slice, "/ports");
    if ports.is_empty() {
        out += "Ports: <unset>\n";
    } else {
        out += &format!("Ports:\n{}", port_table("  ", ports));
    }
    let endpoints = list(slice, "/endpoints");
    if endpoints.is_empty() {
        return out + "Endpoints: <none>\n";
    }
    out += "Endpoints:\n";
    out.extend(endpoints.iter().map(endpoint));
    out
}

fn endpoint(endpoint: &Value) -> String {
    let addresses: Vec<String> = list(endpoint, "/addresses").iter().map(shown).collect();
    let or_unset = |field: &str| endpoint.pointer(field).map_or_else(|| "<unset>".to_owned(), shown);
    let mut out = format!("  - Addresses:\t{}\n    Conditions:\n", addresses.join(", "));
    out += &format!("      Ready:\t{}\n", or_unset("/conditions/ready"));
    out += &format!("    Hostname:\t{}\n", or_unset("/hostname"));
    if let Some(target) = endpoint.get("targetRef") {
        out += &format!("    TargetRef:\t{}/{}\n", text(target, "/kind"), text(target, "/name"));
    }
    out + &format!("    NodeName:\t{}\n    Zone:\t{}\n", or_unset("/nodeName"), or_unset("/zone"))
}

fn port_table(indent: &str, ports: &[Value]) -> String {
    let mut out = format!("{indent}Name\tPort\tProtocol\n{indent}----\t----\t--------\n");
    for port in ports {
        let name = text(port, "/name");
        let name = if name.is_empty() { "<unset>" } else { name };
        let number = port.get("port").map_or_else(|| "<unset>".to_owned(), shown);
        out += &format!("{indent}{name}\t{number}\t{}\n", text(port, "/protocol"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3: three addresses and the number of further ones; endpoints that are not ready are not counted.
    #[test]
    fn addresses_are_cut_after_three() {
        let slice = |addresses: &[&str]| {
            let endpoints: Vec<Value> = addresses.iter().map(|one| json!({"addresses": [one]})).collect();
            json!({"ports": [{"name": "http", "port": 80}], "endpoints": endpoints})
        };
        assert_eq!(reachable(&[], "http"), "<none>");
        assert_eq!(reachable(&[slice(&["10.0.0.1", "fd00::1"])], "http"), "10.0.0.1:80,[fd00::1]:80");
        assert_eq!(reachable(&[slice(&["10.0.0.1"])], "other"), "");
        let five = [slice(&["10.0.0.1", "10.0.0.2"]), slice(&["10.0.0.3", "10.0.0.4", "10.0.0.5"])];
        assert_eq!(reachable(&five, "http"), "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...");
        let mut last_unready = slice(&["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
        last_unready["endpoints"][3]["conditions"] = json!({"ready": false});
        assert!(reachable(&[last_unready], "http").ends_with(" + 0 more..."));
    }
}
