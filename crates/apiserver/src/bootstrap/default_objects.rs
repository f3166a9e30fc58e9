//! The default objects of a cluster except roles: namespaces, the server's own service, priority classes.

use gantry_json::{Value, json};
use gantry_schema::kinds::kinds;

use super::{DefaultObject, FIELD_MANAGER, UpdateSource};
use crate::settings::Settings;

/// The default namespaces.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];
/// Priority classes: name, value, description.
const CLASSES: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];

/// All default objects.
pub(super) fn all(settings: &Settings) -> Vec<DefaultObject> {
    let namespaces =
        NAMESPACES.map(|name| object("v1", "Namespace", json!({"metadata": {"name": name}}), &[]));
    let classes = CLASSES.map(|(name, value, description)| {
        let class = json!({"metadata": {"name": name}, "value": value, "description": description});
        object("scheduling.k8s.io/v1", "PriorityClass", class, &[])
    });
    let own = [
        service_cidr(settings),
        service(settings),
        endpoints(settings),
        endpoint_slice(settings),
        authentication(settings),
    ];
    namespaces.into_iter().chain(classes).chain(own).flatten().collect()
}

/// The range of the addresses of Services.
fn service_cidr(settings: &Settings) -> Option<DefaultObject> {
    let range = settings.services.addresses.to_string();
    let range = json!({"metadata": {"name": "kubernetes"}, "spec": {"cidrs": [range]}});
    let message = "Kubernetes default Service CIDR is ready";
    let ready = json!({"type": "Ready", "status": "True", "reason": "", "message": message});
    let range = object("networking.k8s.io/v1", "ServiceCIDR", range, &[])?;
    Some(DefaultObject { condition: Some(ready), ..range })
}

/// The service through which pods reach the server.
fn service(settings: &Settings) -> Option<DefaultObject> {
    let address = settings.services.addresses.first().to_string();
    let port = settings.advertised.port();
    let labels = json!({"component": "apiserver", "provider": "kubernetes"});
    let spec = json!({
        "type": "ClusterIP", "clusterIP": address, "clusterIPs": [address],
        "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
    });
    let service =
        json!({"metadata": {"name": "kubernetes", "namespace": "default", "labels": labels}, "spec": spec});
    object("v1", "Service", service, &["spec.ports"])
}

fn endpoints(settings: &Settings) -> Option<DefaultObject> {
    let (ip, port) = (settings.advertised.ip().to_string(), settings.advertised.port());
    let labels = json!({"endpointslice.kubernetes.io/skip-mirror": "true"});
    let endpoints = json!({
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": labels},
        "subsets": [{"addresses": [{"ip": ip}], "ports": [{"name": "https", "port": port, "protocol": "TCP"}]}],
    });
    object("v1", "Endpoints", endpoints, &["subsets"])
}

fn endpoint_slice(settings: &Settings) -> Option<DefaultObject> {
    let (ip, port) = (settings.advertised.ip().to_string(), settings.advertised.port());
    let labels = json!({"kubernetes.io/service-name": "kubernetes"});
    let slice = json!({
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [ip], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    });
    object("discovery.k8s.io/v1", "EndpointSlice", slice, &["endpoints", "ports"])
}

/// The configuration with which extension API servers authenticate this server's users.
fn authentication(settings: &Settings) -> Option<DefaultObject> {
    let metadata = json!({"name": "extension-apiserver-authentication", "namespace": "kube-system"});
    let mut map = json!({"metadata": metadata});
    if let Some(certificates) = &settings.client_ca {
        map["data"] = json!({"client-ca-file": certificates});
    }
    object("v1", "ConfigMap", map, &["data.client-ca-file"])
}

/// A default object; `None` if its kind is not served.
pub(super) fn object(
    api_version: &str,
    kind: &str,
    mut object: Value,
    settings_fields: &'static [&'static str],
) -> Option<DefaultObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    let updates = UpdateSource::Settings(settings_fields);
    let kind = kinds().kind(group, version, kind);
    kind.map(|kind| DefaultObject { kind, object, manager: FIELD_MANAGER, updates, condition: None })
}
