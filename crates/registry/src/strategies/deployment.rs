//! The strategy of Deployments.

use gantry_json::{Value, json};

use super::{KindStrategy, replica_set};
use crate::defaults;
use crate::defaults::pod;
use crate::defaults::setting::{Object, default, ensure};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, is_set, number};
use crate::validation::go_format::with_go_names;
use crate::validation::status::{Counters, counters, not_decremented};
use crate::validation::workload::{at_most_100_percent, count_or_percent, is_nothing, selector_and_template};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Ready").computed(|object, _| json!(cell::ready_replicas(object))),
    column::text("Up-to-date").number_at("status.updatedReplicas"),
    column::text("Available").number_at("status.availableReplicas"),
    column::AGE,
    column::CONTAINERS,
    column::IMAGES,
    column::wide("Selector").selector_at("spec.selector"),
];

const COUNTERS: Counters = Counters {
    counted: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    at_most_replicas: &["updatedReplicas", "readyReplicas", "availableReplicas"],
};

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, _, new| validate(errors, new),
    validate_status: |errors, _, old, new| {
        counters(errors, &new["status"], &COUNTERS);
        not_decremented(errors, &old["status"], &new["status"]);
    },
    rows: Rows::new(COLUMNS),
    status_reset_fields: &["spec", "metadata.labels"],
    ..replica_set::STRATEGY
};

fn set_defaults(deployment: &mut Object) {
    let Some(spec) = ensure(deployment, "spec") else { return };
    default(spec, "replicas", 1);
    default(spec, "revisionHistoryLimit", 10);
    default(spec, "progressDeadlineSeconds", 600);
    if let Some(rolling) = defaults::workload::rolling_update(spec, "strategy") {
        default(rolling, "maxUnavailable", "25%");
        default(rolling, "maxSurge", "25%");
    }
    pod::template(spec);
}

/// Validates the spec.
fn validate(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    errors.not_negative(&at, spec, "replicas");
    selector_and_template(errors, &at, spec);
    strategy(errors, &at.child("strategy"), &spec["strategy"]);
    errors.not_negative(&at, spec, "minReadySeconds");
    errors.not_negative(&at, spec, "revisionHistoryLimit");
    rollback(errors, &at, object);
    errors.not_negative(&at, spec, "progressDeadlineSeconds");
    if let Some(deadline) = number(spec, "progressDeadlineSeconds")
        && deadline <= number(spec, "minReadySeconds").unwrap_or(0)
    {
        let at = at.child("progressDeadlineSeconds");
        errors.invalid(&at, &json!(deadline), "must be greater than minReadySeconds");
    }
}

/// Validates the revision of a rollback, an annotation that is a field of Kubernetes' internal type.
fn rollback(errors: &mut ErrorList, at: &Path<'_>, object: &Value) {
    let revision = object["metadata"]["annotations"]["deprecated.deployment.rollback.to"].as_str();
    if let Some(revision) = revision.and_then(|text| text.parse::<i64>().ok()).filter(|number| *number < 0) {
        let why = "must be greater than or equal to 0";
        errors.invalid(&at.child("rollback").child("version"), &json!(revision), why);
    }
}

fn strategy(errors: &mut ErrorList, at: &Path<'_>, strategy: &Value) {
    match strategy["type"].as_str().unwrap_or("") {
        "Recreate" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "may not be specified when strategy `type` is 'Recreate'";
                errors.forbidden(&at.child("rollingUpdate"), why);
            }
        }
        "RollingUpdate" if is_set(strategy, "rollingUpdate") => {
            rolling_update(errors, &at.child("rollingUpdate"), &strategy["rollingUpdate"]);
        }
        "RollingUpdate" => {
            errors.required(&at.child("rollingUpdate"), "this should be defaulted and never be nil");
        }
        _ => unknown_strategy(errors, at, strategy),
    }
}

fn rolling_update(errors: &mut ErrorList, at: &Path<'_>, limits: &Value) {
    let (unavailable, surge) = (&limits["maxUnavailable"], &limits["maxSurge"]);
    count_or_percent(errors, &at.child("maxUnavailable"), unavailable);
    count_or_percent(errors, &at.child("maxSurge"), surge);
    if is_nothing(unavailable) && is_nothing(surge) {
        errors.invalid(&at.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
    }
    at_most_100_percent(errors, &at.child("maxUnavailable"), unavailable);
}

fn unknown_strategy(errors: &mut ErrorList, at: &Path<'_>, strategy: &Value) {
    let supported = ["Recreate", "RollingUpdate"];
    errors.unsupported_formatted(at, with_go_names("apps/v1.DeploymentStrategy", strategy), &supported);
}
