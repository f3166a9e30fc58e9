//! Small core kinds and the metadata of all kinds, validated with the messages and in the order of Kubernetes 1.37.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::lifecycle::{self, Part, ServerAssignedMetadata, Updated};
use gantry_registry::{admission, defaults, validation};
use gantry_schema::kinds::{Kind, kinds};

const RBAC: &str = "rbac.authorization.k8s.io";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

fn kind(group: &str, name: &str) -> &'static Kind {
    kinds().kind(group, "v1", name).unwrap()
}

fn texts(errors: &[gantry_primitives::FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the errors in a new object, prepared as by the server.
fn wrong(kind: &Kind, mut object: Value) -> Vec<String> {
    object["metadata"]["name"] = json!("a");
    defaults::apply(kind, &mut object);
    admission::admit_create(kind, &mut object);
    texts(&validation::create(kind, &object).errors)
}

/// Returns the errors in a change.
fn wrong_change(kind: &Kind, old: &Value, new: &Value) -> Vec<String> {
    let (mut old, mut new) = (old.clone(), new.clone());
    for object in [&mut old, &mut new] {
        object["metadata"]["name"] = json!("a");
        defaults::apply(kind, object);
    }
    admission::admit_update(kind, &old, &mut new);
    texts(&validation::update(kind, &old, &new).errors)
}

fn service(fields: &Value) -> Value {
    let mut service = json!({"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}});
    for (field, value) in fields.as_object().unwrap() {
        service["spec"][field] = value.clone();
    }
    service
}

/// O7.1: errors in the addresses of a service are reported alone, before all others.
#[test]
fn addresses_of_services_are_validated_first_and_alone() {
    let cases = [
        (
            json!({"clusterIP": "010.0.0.1"}),
            "spec.clusterIPs[0]: Invalid value: \"010.0.0.1\": must not have leading 0s",
        ),
        (
            json!({"clusterIPs": ["10.96.0.9"]}),
            "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: must be empty when `clusterIP` is not specified",
        ),
        (
            json!({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9", "10.96.0.8"]}),
            "spec.clusterIPs: Invalid value: [\"10.96.0.9\",\"10.96.0.8\"]: may specify no more than one IP for each IP family",
        ),
        (
            json!({"clusterIP": "fd00::1"}),
            "spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured on this cluster",
        ),
        (
            json!({"clusterIP": "fd00::1", "ipFamilies": ["IPv4"]}),
            "spec.clusterIPs[0]: Invalid value: \"fd00::1\": expected an IPv4 value as indicated by `ipFamilies[0]`",
        ),
        (json!({"ipFamilies": ["IPv4", "IPv4"]}), "spec.ipFamilies[1]: Duplicate value: \"IPv4\""),
        (
            json!({"ipFamilies": ["IPv4", "IPv6"]}),
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
        ),
        (
            json!({"ipFamilies": ["IPv6"]}),
            "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        ),
        (
            json!({"ipFamilyPolicy": "RequireDualStack"}),
            "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack services",
        ),
    ];
    for (fields, why) in cases {
        let mut service = service(&fields);
        service["metadata"]["labels"] = json!({"*": "b"});
        assert_eq!(wrong(kind("", "Service"), service), [why], "{fields}");
    }
}

/// O7.1: ports, policies and types of services.
#[test]
fn services_are_validated_field_by_field() {
    let cases = [
        (
            json!({"trafficDistribution": "*"}),
            vec![
                "spec.trafficDistribution: Unsupported value: \"*\": supported values: \"PreferClose\", \"PreferSameZone\", \"PreferSameNode\"",
            ],
        ),
        (
            json!({"healthCheckNodePort": 2}),
            vec![
                "spec.healthCheckNodePort: Invalid value: 2: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
            ],
        ),
        (
            json!({"type": "ExternalName", "externalName": "a.", "clusterIP": "None", "ipFamilies": ["IPv4"]}),
            vec![
                "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
                "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
            ],
        ),
        (
            json!({"clusterIP": "None", "type": "NodePort"}),
            vec![
                "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
            ],
        ),
        (
            json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.1/8"]}),
            vec![
                "spec.LoadBalancerSourceRanges[0]: Invalid value: \"10.0.0.1/8\": must not have bits set beyond the prefix length",
            ],
        ),
        (
            json!({"externalTrafficPolicy": "q"}),
            vec![
                "spec.externalTrafficPolicy: Invalid value: \"q\": may only be set for externally-accessible services",
            ],
        ),
    ];
    for (fields, why) in cases {
        assert_eq!(wrong(kind("", "Service"), service(&fields)), why, "{fields}");
    }
}

/// O7.1: an address is immutable, and a change of the first address changes the list of addresses.
#[test]
fn the_address_of_a_service_is_immutable() {
    let kind = kind("", "Service");
    let old = service(&json!({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}));
    let changed = |address: &str| service(&json!({"clusterIP": address, "clusterIPs": ["10.96.0.9"]}));
    let why = "spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set";
    assert_eq!(wrong_change(kind, &old, &changed("None")), [why]);
    let why = "spec.clusterIPs[0]: Invalid value: \"a\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    assert_eq!(wrong_change(kind, &old, &changed("a")), [why]);
}

/// O7.1, A2.20: services and nodes with deprecated fields are accepted with a warning.
#[test]
fn deprecated_fields_are_warned_of() {
    let warnings = |kind: &Kind, mut object: Value| {
        object["metadata"]["name"] = json!("a");
        defaults::apply(kind, &mut object);
        admission::admit_create(kind, &mut object);
        validation::create(kind, &object).warnings
    };
    assert_eq!(
        warnings(kind("", "Service"), service(&json!({"externalIPs": ["1.2.3.4"], "externalName": "x"}))),
        [
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
            "spec.externalName is ignored when spec.type is not \"ExternalName\""
        ]
    );
    assert_eq!(
        warnings(kind("", "Node"), json!({"spec": {"externalID": "x"}})),
        ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]
    );
}

/// O7.3: roles and bindings; required fields are reported last.
#[test]
fn roles_and_bindings_are_validated_in_order() {
    let role = json!({
        "rules": [{}],
        "aggregationRule": {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "x"}]}]},
    });
    assert_eq!(
        wrong(kind(RBAC, "ClusterRole"), role),
        [
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
            "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: \"x\": not a valid selector operator",
            "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
            "rules[0].verbs: Required value",
        ]
    );
    assert_eq!(
        wrong(kind(RBAC, "ClusterRole"), json!({"aggregationRule": {}})),
        [
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"
        ]
    );
    let binding = json!({"roleRef": {"kind": "Role", "name": ""}, "subjects": [{"kind": "x", "name": ""}]});
    assert_eq!(
        wrong(kind(RBAC, "RoleBinding"), binding),
        [
            "subjects[0].kind: Unsupported value: \"x\": supported values: \"ServiceAccount\", \"User\", \"Group\"",
            "subjects[0].name: Required value",
            "roleRef.name: Required value",
        ]
    );
}

/// A2.20: the pod CIDRs of a node are valid, and its provider id is immutable.
#[test]
fn nodes_are_validated_field_by_field() {
    let node = kind("", "Node");
    assert_eq!(
        wrong(node, json!({"spec": {"podCIDR": "web"}})),
        [
            "spec.podCIDRs[0]: Invalid value: \"web\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        ]
    );
    assert_eq!(
        wrong(node, json!({"spec": {"podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]}})),
        [
            "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: may specify no more than one CIDR for each IP family"
        ]
    );
    assert_eq!(
        wrong(node, json!({"status": {"capacity": {"cpu": "-1"}}})),
        [
            "status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0",
            "status.allocatable.cpu: Invalid value: \"-1\": must be greater than or equal to 0"
        ]
    );
    let known = json!({"spec": {"providerID": "p", "externalID": "e"}});
    assert_eq!(
        wrong_change(node, &known, &json!({"spec": {"providerID": "q"}})),
        [
            "spec.providerID: Invalid value: null: field cannot be modified once set",
            "spec.externalID: Forbidden: may not be updated"
        ]
    );
}

/// O7.2: a key in both halves of a ConfigMap is reported once; the type of a Secret before its keys.
#[test]
fn keys_are_reported_once_and_in_order() {
    let map = json!({"data": {"a": "b"}, "binaryData": {"a": "YQ=="}});
    assert_eq!(
        wrong(kind("", "ConfigMap"), map),
        ["data[a]: Invalid value: \"a\": duplicate of key present in binaryData"]
    );
    let (old, new) = (json!({"type": "a"}), json!({"type": "b", "data": {"é": "YQ=="}}));
    let found = wrong_change(kind("", "Secret"), &old, &new);
    assert_eq!(found.first().unwrap(), "type: Invalid value: \"b\": field is immutable");
    assert!(found[1].starts_with("data[é]: "), "{found:?}");
}

/// A2.13: in changed metadata, unknown finalizers are reported last; some kinds accept any.
#[test]
fn metadata_is_validated_in_order() {
    let old = json!({"metadata": {"uid": "u"}});
    let new = json!({"metadata": {"uid": "x", "labels": {"*": "b"}, "finalizers": ["a"]}});
    assert_eq!(
        wrong_change(kind("", "ConfigMap"), &old, &new),
        [
            format!("metadata.labels: Invalid value: \"*\": {NAME_PART}"),
            "metadata.uid: Invalid value: \"x\": field is immutable".to_owned(),
            "metadata.finalizers[0]: Invalid value: \"a\": name is neither a standard finalizer name nor is it fully qualified".to_owned(),
        ]
    );
    let lease = json!({"metadata": {"finalizers": ["a"]}});
    assert_eq!(wrong(kind("coordination.k8s.io", "Lease"), lease), Vec::<String>::new());
    let found = wrong(kind("", "ConfigMap"), json!({"metadata": {"labels": {"a/b/c": "d"}}}));
    assert!(found[0].contains("a valid label key must consist of"), "{found:?}");
}

/// A2.4: fields of disabled features are not stored, and only the names of an account's secrets are.
#[test]
fn fields_of_disabled_features_are_not_stored() {
    let assigned = ServerAssignedMetadata {
        uid: "u",
        now: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
        name_suffix: "",
    };
    let created = |kind: &Kind, object: Value| lifecycle::create(object, kind, &assigned);
    let lease = created(
        kind("coordination.k8s.io", "Lease"),
        json!({"spec": {"strategy": "x", "holderIdentity": "h"}}),
    );
    assert_eq!(lease["spec"], json!({"holderIdentity": "h"}));
    let node = created(kind("", "Node"), json!({"spec": {"configSource": {}, "podPreemptionPolicy": {}}}));
    assert_eq!(node["spec"], json!({}));
    let account = json!({"secrets": [{"name": "a", "kind": "x"}, {"kind": "y"}]});
    assert_eq!(created(kind("", "ServiceAccount"), account)["secrets"], json!([{"name": "a"}, {}]));
}

/// As on Kubernetes, an update does not remove disabled fields that an older version stored.
#[test]
fn disabled_fields_of_an_older_version_are_kept() {
    let pod = |image: &str, signal: Value| {
        let container = json!({"name": "c", "image": image, "lifecycle": signal});
        json!({"metadata": {"name": "a"}, "spec": {"containers": [container]}})
    };
    let signal = json!({"stopSignal": "SIGTERM"});
    let updated = |stored: &Value, object: Value| match lifecycle::update(
        stored,
        object,
        Part::Main,
        kind("", "Pod"),
    ) {
        Updated::Store(object) => object["spec"]["containers"][0]["lifecycle"].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(updated(&pod("i:1", signal.clone()), pod("i:2", signal.clone())), signal);
    let without = pod("i:1", json!({"preStop": {"sleep": {"seconds": 1}}}));
    assert_eq!(updated(&without, pod("i:2", signal)), Value::Null);
}

/// A2.5: only the server sets generations, and validation gets a changed uid.
#[test]
fn generations_and_uids_of_clients_are_ignored() {
    let stored = json!({"metadata": {"name": "a", "uid": "u"}});
    let sent = |metadata: Value| json!({"metadata": metadata});
    let update = |object: Value| lifecycle::update(&stored, object, Part::Main, kind("", "ConfigMap"));
    assert_eq!(update(sent(json!({"name": "a", "generation": 7}))), Updated::Unchanged);
    let Updated::Store(other) = update(sent(json!({"name": "a", "uid": "x"}))) else {
        panic!("the uid differs")
    };
    assert_eq!(other["metadata"]["uid"], "x");
}
