//! Scheduling constraints of pods, and taints of nodes.

use gantry_json::{Value, json};
use gantry_registry::validation;
use gantry_schema::kinds::kinds;

use super::{LABEL, of_pod};

/// O2.6: tolerations, spread constraints and node affinity have known operators and values.
#[test]
fn tolerations_spread_constraints_and_affinity_are_validated() {
    let at = "spec.tolerations[0]";
    assert_eq!(
        of_pod(json!({"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]})),
        [format!("{at}.operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'")]
    );
    assert_eq!(
        of_pod(json!({"tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]})),
        [format!(
            "{at}.operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\""
        )]
    );
    let constraint = |action: &str| json!({"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": action, "labelSelector": {}});
    let spread = |constraints: Value| of_pod(json!({"topologySpreadConstraints": constraints}));
    let at = "spec.topologySpreadConstraints[0]";
    assert_eq!(
        spread(json!([constraint("DoNotSchedule"), constraint("DoNotSchedule")])),
        [format!("{at}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: \"{{a, DoNotSchedule}}\"")]
    );
    let mut odd = constraint("ScheduleAnyway");
    odd["minDomains"] = json!(0);
    odd["nodeTaintsPolicy"] = json!("y");
    odd["matchLabelKeys"] = json!(["a b"]);
    let found = spread(json!([odd]));
    assert_eq!(found[0], format!("{at}.minDomains: Invalid value: 0: must be greater than zero"));
    assert_eq!(
        found[1],
        format!(
            "{at}.minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        )
    );
    assert_eq!(
        found[2],
        format!("{at}.nodeTaintsPolicy: Unsupported value: \"y\": supported values: \"Honor\", \"Ignore\"")
    );
    assert!(found[3].starts_with(&format!("{at}.matchLabelKeys[0]: Invalid value: \"a b\": name part")));
    let fields = json!([{"key": "metadata.foo", "operator": "Exists"}]);
    let terms = json!({"nodeSelectorTerms": [{"matchFields": fields}]});
    let at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]";
    assert_eq!(
        of_pod(
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
        ),
        [
            format!("{at}.operator: Invalid value: \"Exists\": not a valid selector operator"),
            format!("{at}.key: Invalid value: \"metadata.foo\": not a valid field selector key"),
        ]
    );
}

/// O2.6: the namespaces of an affinity term are valid names.
#[test]
fn a_term_names_namespaces() {
    let term = json!({"topologyKey": "zone", "namespaces": ["A_"], "matchLabelKeys": ["a"]});
    let terms = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    let at = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
    assert_eq!(
        of_pod(json!({"affinity": {"podAffinity": terms}})),
        [
            format!("{at}.namespace: Invalid value: \"A_\": {LABEL}"),
            format!("{at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"),
        ]
    );
}

/// A2.20: the pod CIDRs of a node are immutable, and its taints are unique.
#[test]
fn nodes_have_each_taint_once_and_keep_their_addresses() {
    let node = |spec: Value| json!({"metadata": {"name": "n"}, "spec": spec});
    let kind = kinds().kind("", "v1", "Node").unwrap();
    let wrong = |spec: Value| {
        let found = validation::create(kind, &node(spec)).errors;
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        wrong(json!({"taints": [{"key": "a", "effect": "Foo"}]})),
        [
            "metadata.taints[0].effect: Unsupported value: \"Foo\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""
        ]
    );
    let taint = json!({"key": "a", "effect": "NoSchedule"});
    assert_eq!(
        wrong(json!({"taints": [taint, taint]})),
        [
            "metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: taints must be unique by key and effect pair"
        ]
    );
    let (old, new) = (node(json!({"podCIDRs": ["10.0.0.0/24"]})), node(json!({"podCIDRs": ["10.0.1.0/24"]})));
    let found = validation::update(kind, &old, &new).errors;
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid"]
    );
}
