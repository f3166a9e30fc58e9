//! Jobs and CronJobs.

use gantry_registry::validation;
use serde_json::{Value, json};

use super::{kind, object, told, wrong};

/// The pods of a Job, which end.
fn ending() -> Value {
    json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}})
}

/// What is wrong with a Job that selects its pods itself.
fn wrong_job(fields: &Value) -> Vec<String> {
    let mut spec =
        json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": ending()});
    for (field, value) in fields.as_object().unwrap() {
        spec[field] = value.clone();
    }
    wrong(kind("batch", "jobs"), &spec)
}

#[test]
fn rules_about_failed_pods_say_what_they_are_about() {
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

/// A selector of its own must be asked for.
#[test]
fn a_job_keeps_the_selector_that_was_generated_unless_it_says_otherwise() {
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
    let errors = told(&validation::create(jobs, &job).errors);
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
fn schedules_say_which_part_is_wrong() {
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
