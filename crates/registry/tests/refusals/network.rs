//! Services and Ingresses.

use gantry_json::{Value, json};

use super::{errors_in, with};

/// Appendix A: fields that only load balancers can have, duplicate ports, and external addresses.
#[test]
fn fields_of_services_fit_their_type() {
    let service = |spec: Value| {
        let base = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
        errors_in("", "Service", &with(base, "spec", spec))
    };
    assert_eq!(
        service(json!({"loadBalancerSourceRanges": ["x"], "loadBalancerClass": "x"})),
        [
            "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
            "spec.LoadBalancerSourceRanges[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
        ]
    );
    assert_eq!(
        service(json!({"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]})),
        [
            "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,\"NodePort\":0}"
        ]
    );
    assert_eq!(
        service(json!({"externalIPs": ["127.0.0.1"]})),
        [
            "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)"
        ]
    );
}

/// Appendix A: the paths of Ingresses, the peers of NetworkPolicies, and the modes of claims.
#[test]
fn ingress_paths_and_network_policy_peers_are_validated() {
    let ingress = |spec: Value| {
        errors_in("networking.k8s.io", "Ingress", &json!({"metadata": {"name": "i"}, "spec": spec}))
    };
    assert_eq!(
        ingress(json!({})),
        ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]
    );
    let paths = json!([{"path": "x", "pathType": "Prefix", "backend": {"service": {"name": "s"}}}]);
    let at = "spec.rules[0].http.paths[0]";
    assert_eq!(
        ingress(json!({"rules": [{"http": {"paths": paths}}]})),
        [
            format!("{at}.path: Invalid value: \"x\": must be an absolute path"),
            format!("{at}.backend: Required value: port name or number is required"),
        ]
    );
    let policy = |spec: Value| {
        errors_in("networking.k8s.io", "NetworkPolicy", &json!({"metadata": {"name": "p"}, "spec": spec}))
    };
    assert_eq!(
        policy(json!({"policyTypes": ["Foo"], "ingress": [{"from": [{}], "ports": [{"endPort": 5}]}]})),
        [
            "spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is not specified",
            "spec.ingress[0].from[0]: Required value: must specify a peer",
            "spec.policyTypes[0]: Unsupported value: \"Foo\": supported values: \"Ingress\", \"Egress\"",
        ]
    );
    let claim = json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["Foo"], "resources": {"requests": {"storage": "-1"}}}});
    assert_eq!(
        errors_in("", "PersistentVolumeClaim", &claim),
        [
            "spec.accessModes: Unsupported value: \"Foo\": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
            "spec.resources[storage]: Invalid value: \"-1\": must be greater than zero",
        ]
    );
}
