//! Jobs and CronJobs.

use gantry_json::{Value, json};
use gantry_registry::validation;

use super::{kind, object, texts, wrong};

/// The template of a Job, whose pods do not restart.
fn ending() -> Value {
    json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}})
}

/// Returns the errors in a Job with a selector of its own.
fn wrong_job(fields: &Value) -> Vec<String> {
    let mut spec =
        json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": ending()});
    for (field, value) in fields.as_object().unwrap() {
        spec[field] = value.clone();
    }
    wrong(kind("batch", "jobs"), &spec)
}

#[test]
fn pod_failure_policies_are_validated() {
    let rules = json!([
        {"action": "x"},
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [0, 1, 1]}},
        {"action": "FailIndex", "onPodConditions": [{"type": "Ready", "status": "x"}]},
    ]);
    assert_eq!(
        wrong_job(&json!({"podFailurePolicy": {"rules": rules}})),
        [
            "spec.podFailurePolicy.rules[0].action: Unsupported value: \"x\": supported values: \"Count\", \
             \"FailIndex\", \"FailJob\", \"Ignore\"",
            "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
            "spec.podFailurePolicy.rules[1].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
            "spec.podFailurePolicy.rules[1].onExitCodes.values[2]: Duplicate value: 1",
            "spec.podFailurePolicy.rules[2].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set",
            "spec.podFailurePolicy.rules[2].onPodConditions[0].status: Unsupported value: \"x\": supported values: \
             \"False\", \"True\", \"Unknown\"",
        ]
    );
}

#[test]
fn early_success_counts_indexes_that_exist() {
    let job = |rule: Value| {
        wrong_job(&json!({"completionMode": "Indexed", "completions": 5, "successPolicy": {"rules": [rule]}}))
    };
    let at = "spec.successPolicy.rules[0]";
    assert_eq!(job(json!({"succeededIndexes": "0,2-4", "succeededCount": 4})), Vec::<String>::new());
    assert_eq!(
        job(json!({"succeededIndexes": "3,1"})),
        [format!(
            "{at}.succeededIndexes: Invalid value: \"3,1\": error parsing succeededIndexes: non-increasing order, \
             previous: 3, current: 1"
        )]
    );
    assert_eq!(
        job(json!({"succeededIndexes": "0,2", "succeededCount": 4})),
        [format!(
            "{at}.succeededCount: Invalid value: 4: must be less than or equal to 2 (the number of indexes in the \
             specified succeededIndexes field)"
        )]
    );
    assert_eq!(
        wrong_job(&json!({"successPolicy": {"rules": [{"succeededCount": 1}]}})),
        [
            "spec.successPolicy: Invalid value: {\"Rules\":[{\"SucceededIndexes\":null,\"SucceededCount\":1}]}: requires \
          indexed completion mode"
        ]
    );
}

/// A selector other than the generated one requires `manualSelector`.
#[test]
fn a_custom_selector_of_a_job_requires_manual_selector() {
    let jobs = kind("batch", "jobs");
    let mut job = object(jobs, &json!({"template": ending(), "selector": {"matchLabels": {"a": "b"}}}));
    for (label, value) in [
        ("batch.kubernetes.io/controller-uid", "u"),
        ("batch.kubernetes.io/job-name", "web"),
        ("controller-uid", "u"),
        ("job-name", "web"),
    ] {
        job["spec"]["template"]["metadata"]["labels"][label] = json!(value);
    }
    let errors = texts(&validation::create(jobs, &job).errors);
    assert_eq!(
        errors,
        ["spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` not auto-generated"]
    );
    job["spec"]["manualSelector"] = json!(true);
    assert_eq!(validation::create(jobs, &job).errors, []);
}

#[test]
fn another_controller_of_a_job_has_a_domain() {
    let why =
        "spec.managedBy: Invalid value: \"x\": must be a domain-prefixed path (such as \"acme.io/foo\")";
    assert_eq!(wrong_job(&json!({"managedBy": "x"})), [why]);
    assert_eq!(wrong_job(&json!({"managedBy": "a.b/c"})), Vec::<String>::new());
}

fn wrong_cron_job(fields: &Value) -> Vec<String> {
    let mut spec = json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": ending()}}});
    for (field, value) in fields.as_object().unwrap() {
        spec[field] = value.clone();
    }
    wrong(kind("batch", "cronjobs"), &spec)
}

#[test]
fn time_zones_are_those_of_the_database() {
    for zone in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"] {
        assert_eq!(wrong_cron_job(&json!({"timeZone": zone})), Vec::<String>::new());
    }
    for zone in ["x", "utc", "../x", "europe/berlin"] {
        let why = format!("spec.timeZone: Invalid value: \"{zone}\": unknown time zone {zone}");
        assert_eq!(wrong_cron_job(&json!({"timeZone": zone})), [why]);
    }
}

#[test]
fn errors_of_schedules_name_the_invalid_part() {
    for (schedule, why) in [
        ("@every x", "failed to parse duration @every x: time: invalid duration \"x\""),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("x", "expected exactly 5 fields, found 1: [x]"),
    ] {
        let why = format!("spec.schedule: Invalid value: \"{schedule}\": {why}");
        assert_eq!(wrong_cron_job(&json!({"schedule": schedule})), [why]);
    }
    assert_eq!(wrong_cron_job(&json!({"schedule": "@every 1h30m"})), Vec::<String>::new());
}

/// Returns the errors in a new status of an indexed Job with three completions.
fn wrong_status(old: Value, new: Value) -> Vec<String> {
    let kind = kind("batch", "jobs");
    let spec = json!({
        "completionMode": "Indexed", "completions": 3, "parallelism": 1, "backoffLimitPerIndex": 1, "template": ending(),
    });
    let job = |status: Value| {
        let mut job = object(kind, &spec);
        job["status"] = status;
        job
    };
    texts(&validation::status(kind, &job(old), &job(new)).errors)
}

fn conditions(types: &[&str]) -> Value {
    types.iter().map(|word| json!({"type": word, "status": "True"})).collect()
}

#[test]
fn the_counters_of_a_job_are_not_negative_and_do_not_decrease() {
    let pods = json!({"succeeded": ["a", "a", ""], "failed": ["a"]});
    let new = json!({"active": -1, "failed": 1, "ready": 1, "uncountedTerminatedPods": pods});
    let uncounted = "status.uncountedTerminatedPods";
    assert_eq!(
        wrong_status(json!({"failed": 2, "succeeded": 1}), new),
        [
            "status.active: Invalid value: -1: must be greater than or equal to 0".to_owned(),
            format!("{uncounted}.succeeded[1]: Duplicate value: \"a\""),
            format!("{uncounted}.succeeded[2]: Invalid value: \"\": must not be empty"),
            format!("{uncounted}.failed[0]: Duplicate value: \"a\""),
            "status.ready: Invalid value: 1: cannot set more ready pods than active".to_owned(),
            "status.failed: Invalid value: 1: cannot decrease the failed counter".to_owned(),
            "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter".to_owned(),
        ]
    );
}

#[test]
fn a_job_ends_by_the_rules() {
    let none = || json!({});
    assert_eq!(
        wrong_status(none(), json!({"conditions": conditions(&["Complete"]), "active": 1})),
        [
            "status.completionTime: Required value: completionTime is required for Complete jobs",
            "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
            "status.active: Invalid value: 1: active>0 is invalid for finished job",
            "status.startTime: Required value: startTime is required for finished job",
        ]
    );
    let times = json!({"startTime": "2024-01-02T03:04:05Z", "completionTime": "2024-01-02T03:04:04Z"});
    assert_eq!(
        wrong_status(none(), times.clone()),
        [
            "status.completionTime: Invalid value: \"2024-01-02T03:04:04Z\": cannot set completionTime when there is no \
             Complete=True condition",
            "status.completionTime: Invalid value: \"2024-01-02T03:04:04Z\": must be equal to or after `startTime`",
        ]
    );
    assert_eq!(wrong_status(times.clone(), times), [""; 0], "an unchanged status is accepted");
    let failed = json!({"conditions": conditions(&["Failed"]), "startTime": "2024-01-02T03:04:05Z"});
    assert_eq!(
        wrong_status(none(), failed.clone()),
        [
            "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"
        ]
    );
    assert_eq!(
        wrong_status(failed, json!({"startTime": "2024-01-02T03:04:06Z"})),
        [
            "status.conditions: Invalid value: cannot disable the terminal Failed=True condition",
            "status.startTime: Invalid value: \"2024-01-02T03:04:06Z\": field is immutable for unsuspended job once set",
        ]
    );
}

#[test]
fn the_indexes_of_a_job_are_in_order_and_either_completed_or_failed() {
    assert_eq!(
        wrong_status(json!({}), json!({"completedIndexes": "0,2-1", "failedIndexes": "0-2"})),
        [
            "status.completedIndexes: Invalid value: \"0,2-1\": error parsing completedIndexes: non-increasing order, \
             previous: 2, current: 1",
            "status.failedIndexes: Invalid value: \"0-2\": failedIndexes and completedIndexes overlap at index: 0",
        ]
    );
    assert_eq!(wrong_status(json!({}), json!({"completedIndexes": "0,2", "failedIndexes": "1"})), [""; 0]);
}

#[test]
fn an_immutable_template_is_shown_as_go_prints_it() {
    let kind = kind("batch", "jobs");
    let spec = json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": ending()});
    let (old, mut new) = (object(kind, &spec), object(kind, &spec));
    new["spec"]["template"]["spec"]["containers"][0]["image"] = json!("i:2");
    let errors = texts(&validation::update(kind, &old, &new).errors);
    let [shown] = &errors[..] else { panic!("{errors:?}") };
    for part in [
        "{\"labels\":{\"a\":\"b\"},\"Spec\":{\"Volumes\":null,",
        "\"StdinOnce\":false,\"TTY\":false}]",
        "\"DNSPolicy\":\"ClusterFirst\"",
        "\"ServiceAccountName\":\"\",\"DeprecatedServiceAccount\":\"\"",
        "\"FSGroup\":null",
        "\"OS\":null",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}
