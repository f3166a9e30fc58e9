//! The strategy of DaemonSets.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::defaults::pod;
use crate::defaults::setting::{Object, child, default, ensure, object};
use crate::defaults::workload::rolling_update as default_rolling_update;
use crate::lifecycle::disabled_fields;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path, is_set, text};
use crate::validation::go_format::{ordered_json, with_go_names};
use crate::validation::status::{not_decremented, not_negative};
use crate::validation::workload::{SELECTOR, at_most_100_percent, count_or_percent, is_nothing};
use crate::validation::{selector, template, warnings, workload};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::number("Desired").number_at("status.desiredNumberScheduled"),
    column::number("Current").number_at("status.currentNumberScheduled"),
    column::number("Ready").number_at("status.numberReady"),
    column::number("Up-to-date").number_at("status.updatedNumberScheduled"),
    column::number("Available").number_at("status.numberAvailable"),
    column::text("Node Selector").labels_at("spec.template.spec.nodeSelector"),
    column::AGE,
    column::CONTAINERS,
    column::IMAGES,
    column::wide("Selector").selector_at("spec.selector"),
];
/// The annotation with the generation of the template.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

const COUNTERS: [&str; 9] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    prepare: |_, old, new| disabled_fields::drop(old, new, disabled_fields::pod_template),
    admit: |old, new| count_template(new, old),
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            workload::immutable_selector(errors, &old["spec"], &new["spec"]);
        }
        validate(errors, new);
    },
    validate_status: |errors, _, old, new| {
        not_negative(errors, &new["status"], &COUNTERS);
        not_decremented(errors, &old["status"], &new["status"]);
    },
    warnings: warnings::template,
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn set_defaults(set: &mut Object) {
    if let Some(annotations) = ensure(set, "metadata").and_then(|metadata| ensure(metadata, "annotations")) {
        default(annotations, TEMPLATE_GENERATION, "0");
    }
    let Some(spec) = ensure(set, "spec") else { return };
    default(spec, "revisionHistoryLimit", 10);
    if let Some(rolling) = default_rolling_update(spec, "updateStrategy") {
        default(rolling, "maxUnavailable", 1);
        default(rolling, "maxSurge", 0);
    } else if let Some(rolling) = child(spec, "updateStrategy").and_then(|it| child(it, "rollingUpdate")) {
        // The limits of another strategy have defaults, too.
        default(rolling, "maxUnavailable", 0);
        default(rolling, "maxSurge", 0);
    }
    pod::template(spec);
}

/// Validates the spec. The selector is not required; an absent one matches nothing.
fn validate(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    selector::valid_and_matching(errors, &at, spec);
    if is_set(spec, "selector") && selector::is_empty(&spec["selector"]) {
        let why = "empty selector is invalid for daemonset";
        errors.invalid_formatted(&at.child("selector"), ordered_json(SELECTOR, &spec["selector"]), why);
    }
    template::restarting_template(errors, &at, spec, "DaemonSet");
    errors.not_negative(&at, spec, "minReadySeconds");
    let (strategy_at, strategy) = (at.child("updateStrategy"), &spec["updateStrategy"]);
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" if is_set(strategy, "rollingUpdate") => {
            rolling_update(errors, &strategy_at.child("rollingUpdate"), &strategy["rollingUpdate"]);
        }
        "RollingUpdate" => errors.required(&strategy_at.child("rollingUpdate"), ""),
        _ => {
            let shown = with_go_names("apps/v1.DaemonSetUpdateStrategy", strategy);
            errors.unsupported_formatted(&strategy_at, shown, &["RollingUpdate", "OnDelete"]);
        }
    }
    errors.not_negative(&at, spec, "revisionHistoryLimit");
}

/// Validates that exactly one of `maxUnavailable` and `maxSurge` is not zero.
fn rolling_update(errors: &mut ErrorList, at: &Path<'_>, limits: &Value) {
    for field in ["maxUnavailable", "maxSurge"] {
        count_or_percent(errors, &at.child(field), &limits[field]);
        at_most_100_percent(errors, &at.child(field), &limits[field]);
    }
    match (is_nothing(&limits["maxUnavailable"]), is_nothing(&limits["maxSurge"])) {
        (false, false) => {
            let why = "may not be set when maxUnavailable is non-zero";
            errors.invalid(&at.child("maxSurge"), &limits["maxSurge"], why);
        }
        (true, true) => errors.required(&at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

/// Sets the generation of the template, which starts at 1 and increments with every change.
fn count_template(set: &mut Value, stored: Option<&Value>) {
    let number = match stored {
        None => 1,
        Some(stored) => {
            let before = &stored["metadata"]["annotations"][TEMPLATE_GENERATION];
            let before: i64 = before.as_str().and_then(|text| text.parse().ok()).unwrap_or(1);
            before + i64::from(stored["spec"]["template"] != set["spec"]["template"])
        }
    };
    let metadata = object(set).and_then(|set| ensure(set, "metadata"));
    if let Some(annotations) = metadata.and_then(|metadata| ensure(metadata, "annotations")) {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), json!(number.to_string()));
    }
}
