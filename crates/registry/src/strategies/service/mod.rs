//! The strategy of Services.

mod addresses;
mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::admission::quota::QuotaRules;
use crate::admission::services;
use crate::defaults::setting;
use crate::defaults::setting::{Object, child, default, default_text, each, ensure, is_empty, is_unset};
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, text};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Type").text_at("spec.type"),
    column::text("Cluster-IP").computed(|object, _| {
        let first_ip = cell::at(object, "spec.clusterIPs")[0].as_str();
        json!(first_ip.unwrap_or(cell::text_or(object, "spec.clusterIP", "<none>")))
    }),
    column::text("External-IP").computed(|object, _| json!(external_ip(object))),
    column::text("Port(s)").computed(|object, _| json!(cell::or(ports(object), "<none>"))),
    column::AGE,
    column::wide("Selector").labels_at("spec.selector"),
];
/// The default timeout of session affinity: three hours.
const STICKY_SECONDS: i64 = 10800;

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    admit: |old, new| services::complete(new, old),
    validate_first: |errors, _, new| addresses::service_addresses(errors, new),
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            validation::service_changes(errors, old, new);
        }
        validation::service(errors, new);
    },
    validate_status: |errors, _, old, new| validation::status(errors, old, new),
    warnings: |warnings, _, new| warnings.extend(validation::warnings(&new["spec"])),
    quota: QuotaRules::new(|usage, service| usage.add_service(&service["spec"])),
    allocates_addresses: true,
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[NAME, NAMESPACE, text("spec.clusterIP"), text("spec.type")]),
    ..KindStrategy::DEFAULT
};

fn external_ip(service: &Value) -> String {
    let given: Vec<_> = cell::list(service, "spec.externalIPs").iter().filter_map(Value::as_str).collect();
    let given = given.join(",");
    match cell::text(service, "spec.type") {
        "ClusterIP" | "NodePort" => cell::or(given, "<none>"),
        "LoadBalancer" => match (cell::load_balancer(service), given) {
            (balanced, given) if balanced.is_empty() => cell::or(given, "<pending>"),
            (balanced, given) if given.is_empty() => balanced,
            (balanced, given) => format!("{balanced},{given}"),
        },
        "ExternalName" => cell::text(service, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

fn ports(service: &Value) -> String {
    let port = |port: &Value| {
        let node_port = match cell::number(port, "nodePort") {
            0 => String::new(),
            node_port => format!(":{node_port}"),
        };
        format!("{}{node_port}/{}", cell::number(port, "port"), cell::text(port, "protocol"))
    };
    cell::list(service, "spec.ports").iter().map(port).collect::<Vec<_>>().join(",")
}

fn set_defaults(service: &mut Object) {
    let Some(spec) = ensure(service, "spec") else { return };
    default_text(spec, "sessionAffinity", "None");
    default_text(spec, "type", "ClusterIP");
    default_affinity(spec);
    for port in each(spec, "ports") {
        default_text(port, "protocol", "TCP");
        let unset = matches!(port.get("targetPort"), None | Some(Value::Null))
            || port["targetPort"] == json!(0)
            || port["targetPort"] == json!("");
        if unset {
            let number = port.get("port").cloned().unwrap_or(json!(0));
            port.insert("targetPort", number);
        }
    }
    default_policies(spec);
}

fn default_affinity(spec: &mut Object) {
    match setting::text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let config = ensure(spec, "sessionAffinityConfig").and_then(|config| ensure(config, "clientIP"));
            if let Some(client) = config {
                default(client, "timeoutSeconds", STICKY_SECONDS);
            }
        }
        _ => {}
    }
}

fn default_policies(spec: &mut Object) {
    let balanced = setting::text(spec, "type") == "LoadBalancer";
    let outside = balanced
        || setting::text(spec, "type") == "NodePort"
        || setting::text(spec, "type") == "ClusterIP" && !is_empty(spec, "externalIPs");
    let inside = matches!(setting::text(spec, "type"), "ClusterIP" | "NodePort" | "LoadBalancer");
    if outside {
        default_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if inside {
        default(spec, "internalTrafficPolicy", "Cluster");
    }
    if balanced && is_unset(spec, "allocateLoadBalancerNodePorts") {
        default(spec, "allocateLoadBalancerNodePorts", true);
    }
    if let Some(health) = child(spec, "loadBalancerStatus") {
        each(health, "ingress").for_each(|ingress| default(ingress, "ipMode", "VIP"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a load balancer is pending until it has an address.
    #[test]
    fn a_load_balancer_may_be_pending() {
        let mut balancer = json!({"spec": {
            "type": "LoadBalancer", "clusterIP": "10.0.0.1",
            "ports": [{"port": 443, "nodePort": 30443, "protocol": "TCP"}],
        }});
        assert_eq!(STRATEGY.rows.cells(&balancer, NOW)[2..5], ["10.0.0.1", "<pending>", "443:30443/TCP"]);
        balancer["spec"]["externalIPs"] = json!(["5.6.7.8"]);
        assert_eq!(external_ip(&balancer), "5.6.7.8");
        balancer["status"] =
            json!({"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}, {"ip": "1.2.3.4"}]}});
        assert_eq!(external_ip(&balancer), "1.2.3.4,lb.example.com,5.6.7.8");
    }
}
