//! Deployments, StatefulSets, DaemonSets and ReplicationControllers.

use gantry_json::{Value, json};

use super::{kind, object, template, wrong, wrong_change};

fn selecting(selector: &Value) -> Value {
    json!({"selector": selector, "template": template()})
}

/// A selector that an update removes is reported as required, as not matching the template, and as changed.
#[test]
fn a_removed_selector_is_refused_for_each_reason() {
    let old = selecting(&json!({"matchLabels": {"a": "b"}}));
    let no_match = "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`";
    let immutable = "spec.selector: Invalid value: null: field is immutable";
    for resource in ["deployments", "replicasets", "statefulsets"] {
        let errors = wrong_change(kind("apps", resource), &old, &selecting(&Value::Null));
        assert_eq!(errors, ["spec.selector: Required value", no_match, immutable], "{resource}");
    }
    let errors = wrong_change(kind("apps", "daemonsets"), &old, &selecting(&Value::Null));
    assert_eq!(errors, [immutable, no_match], "a DaemonSet requires no selector");
}

#[test]
fn errors_of_a_stateful_set_name_the_immutable_field() {
    let set = kind("apps", "statefulsets");
    let mut new = selecting(&json!({"matchLabels": {"a": "b"}}));
    let old = new.clone();
    new["serviceName"] = json!("x");
    new["podManagementPolicy"] = json!("Parallel");
    assert_eq!(
        wrong_change(set, &old, &new),
        [
            "spec.serviceName: Invalid value: \"x\": field is immutable",
            "spec.podManagementPolicy: Invalid value: \"Parallel\": field is immutable"
        ]
    );
}

#[test]
fn claim_templates_are_validated_on_creation_only() {
    let set = kind("apps", "statefulsets");
    let mut spec = selecting(&json!({"matchLabels": {"a": "b"}}));
    spec["volumeClaimTemplates"] = json!([{"metadata": {"name": "v"}, "spec": {}}]);
    assert_eq!(
        wrong(set, &spec),
        [
            "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
            "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"
        ]
    );
    assert_eq!(wrong_change(set, &spec, &spec), Vec::<String>::new());
}

#[test]
fn a_daemon_set_either_adds_pods_first_or_removes_them_first() {
    let set = kind("apps", "daemonsets");
    let limits = |limits: Value| {
        let mut spec = selecting(&json!({"matchLabels": {"a": "b"}}));
        spec["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": limits});
        wrong(set, &spec)
    };
    let at = "spec.updateStrategy.rollingUpdate";
    let both = format!("{at}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero");
    assert_eq!(limits(json!({"maxSurge": 1})), [both]);
    let neither = format!("{at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0");
    assert_eq!(limits(json!({"maxUnavailable": "0%"})), [neither]);
    assert_eq!(limits(json!({"maxUnavailable": 0, "maxSurge": "10%"})), Vec::<String>::new());
}

/// Values are formatted as Go formats its structures.
#[test]
fn unknown_strategies_are_shown_whole() {
    let mut spec = selecting(&json!({"matchLabels": {"a": "b"}}));
    spec["updateStrategy"] = json!({"type": "x", "rollingUpdate": {"partition": 1}});
    assert_eq!(
        wrong(kind("apps", "statefulsets"), &spec),
        ["spec.updateStrategy: Invalid value: {\"Type\":\"x\",\"RollingUpdate\":{\"Partition\":1,\
          \"MaxUnavailable\":null}}: must be 'RollingUpdate' or 'OnDelete'"]
    );
    spec["updateStrategy"] = json!({"type": "x"});
    assert_eq!(
        wrong(kind("apps", "daemonsets"), &spec),
        [
            "spec.updateStrategy: Unsupported value: {\"Type\":\"x\",\"RollingUpdate\":null}: supported values: \
          \"RollingUpdate\", \"OnDelete\""
        ]
    );
}

/// The revision of a rollback must not be negative.
#[test]
fn the_revision_of_a_rollback_is_not_negative() {
    let deployment = kind("apps", "deployments");
    let mut object = object(deployment, &selecting(&json!({"matchLabels": {"a": "b"}})));
    object["metadata"]["annotations"] = json!({"deprecated.deployment.rollback.to": "-5"});
    let errors = gantry_registry::validation::create(deployment, &object).errors;
    assert_eq!(
        super::texts(&errors),
        ["spec.rollback.version: Invalid value: -5: must be greater than or equal to 0"]
    );
}

/// The pods of a StatefulSet get their host names from it, so those of the template are not validated.
#[test]
fn host_names_in_the_template_of_a_stateful_set_are_not_validated() {
    let mut spec = selecting(&json!({"matchLabels": {"a": "b"}}));
    spec["template"]["spec"]["hostname"] = json!("Always");
    spec["template"]["spec"]["subdomain"] = json!("Sub");
    assert_eq!(wrong(kind("apps", "statefulsets"), &spec), [""; 0]);
    assert_eq!(wrong(kind("apps", "deployments"), &spec).len(), 2);
}

#[test]
fn the_limits_of_a_daemon_set_are_numbers_even_where_they_do_not_count() {
    let kind = kind("apps", "daemonsets");
    let mut spec = selecting(&json!({"matchLabels": {"a": "b"}}));
    spec["updateStrategy"] = json!({"type": "OnDelete", "rollingUpdate": {"maxSurge": "50%"}});
    let set = object(kind, &spec);
    assert_eq!(
        set["spec"]["updateStrategy"]["rollingUpdate"],
        json!({"maxSurge": "50%", "maxUnavailable": 0})
    );
}
