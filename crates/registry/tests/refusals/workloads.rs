//! Jobs, CronJobs and StatefulSets.

use gantry_json::{Value, json};
use gantry_registry::defaults;
use gantry_schema::kinds::kinds;

use super::{LABEL, NONE, errors_in, with};

/// Appendix A: fields that require indexed completion, and names of time zones.
#[test]
fn jobs_and_schedules_are_consistent() {
    let job = |spec: Value| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
        let selector = json!({"matchLabels": {"a": "b"}});
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": pod});
        let base = json!({"manualSelector": true, "selector": selector, "template": template});
        errors_in("batch", "Job", &with(json!({"metadata": {"name": "j"}, "spec": base}), "spec", spec))
    };
    assert_eq!(
        job(json!({"completionMode": "Foo"})),
        ["spec.completionMode: Unsupported value: \"Foo\": supported values: \"NonIndexed\", \"Indexed\""]
    );
    assert_eq!(
        job(json!({"maxFailedIndexes": 1})),
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ]
    );
    let mut whole = json!({"spec": {"podFailurePolicy": {"rules": [{"onPodConditions": [{"type": "X"}]}]}}});
    defaults::apply(kinds().kind("batch", "v1", "Job").unwrap(), &mut whole);
    let rule = &whole["spec"]["podFailurePolicy"]["rules"][0];
    assert_eq!(rule["onPodConditions"][0]["status"], "True", "the default status is True");
    assert_eq!(
        job(json!({"podReplacementPolicy": "Foo"})),
        [
            "spec.podReplacementPolicy: Unsupported value: \"Foo\": supported values: \"Failed\", \"TerminatingOrFailed\""
        ]
    );
    let cron_job = |spec: Value| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
        let base = json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}});
        errors_in("batch", "CronJob", &with(json!({"metadata": {"name": "j"}, "spec": base}), "spec", spec))
    };
    assert_eq!(
        cron_job(json!({"schedule": "TZ=UTC 1 * * * *"})),
        [
            "spec.schedule: Invalid value: \"TZ=UTC 1 * * * *\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        ]
    );
    assert_eq!(
        cron_job(json!({"timeZone": ""})),
        ["spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"]
    );
    assert_eq!(
        cron_job(json!({"timeZone": "Europe//Bern"})),
        ["spec.timeZone: Invalid value: \"Europe//Bern\": unknown time zone Europe//Bern"]
    );
}

/// Appendix A: a rolling update of a DaemonSet has either a surge or unavailable pods; claims are mounted by name.
#[test]
fn sets_roll_by_one_rule_and_mount_their_claims() {
    let template = |mounts: Value| {
        let container = json!({"name": "c", "image": "i", "volumeMounts": mounts});
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}})
    };
    let set = |kind: &str, fields: Value| {
        let base = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template(json!([]))});
        errors_in("apps", kind, &with(json!({"metadata": {"name": "s"}, "spec": base}), "spec", fields))
    };
    let rolling = |surge: u8, gone: u8| json!({"updateStrategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": gone}}});
    let at = "spec.updateStrategy.rollingUpdate";
    assert_eq!(
        set("DaemonSet", rolling(1, 1)),
        [format!("{at}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero")]
    );
    assert_eq!(
        set("DaemonSet", rolling(0, 0)),
        [format!("{at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0")]
    );
    let mounted = template(json!([{"name": "data", "mountPath": "/data"}]));
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let claims = json!([{"metadata": {"name": "data"}, "spec": claim}]);
    assert_eq!(set("StatefulSet", json!({"template": mounted, "volumeClaimTemplates": claims})), NONE);
    assert_eq!(
        set("StatefulSet", json!({"updateStrategy": {"type": "Foo"}, "ordinals": {"start": -1}, "serviceName": "A"})),
        [
            "spec.updateStrategy: Invalid value: {\"Type\":\"Foo\",\"RollingUpdate\":null}: must be 'RollingUpdate' or 'OnDelete'".to_owned(),
            "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0".to_owned(),
            format!("spec.serviceName: Invalid value: \"A\": {LABEL}"),
        ]
    );
}
