//! The strategy of StatefulSets.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::defaults::setting::{Object, default, default_text, each, ensure};
use crate::defaults::workload::rolling_update;
use crate::defaults::{pod, volume};
use crate::lifecycle::disabled_fields;
use crate::strategies::storage::validation as storage;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::go_format::{list_with_go_names, with_go_names};
use crate::validation::names::label;
use crate::validation::status::{Counters, counters, not_decremented};
use crate::validation::workload::{at_most_100_percent, count_or_percent, immutable_selector, is_nothing};
use crate::validation::{selector, semantically_equal, template, warnings};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Ready").computed(|object, _| json!(cell::ready_replicas(object))),
    column::AGE,
    column::CONTAINERS,
    column::IMAGES,
];
const CLAIM: &str = "core/v1.PersistentVolumeClaim";

const COUNTERS: Counters = Counters {
    counted: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    at_most_replicas: &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
};

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    prepare: |_, old, new| disabled_fields::drop(old, new, disabled_fields::pod_template),
    validate: |errors, _, old, new| match old {
        None => validate_new(errors, new),
        Some(old) => {
            validate_changed(errors, new);
            validate_changes(errors, old, new);
        }
    },
    validate_status: |errors, _, old, new| {
        counters(errors, &new["status"], &COUNTERS);
        not_decremented(errors, &old["status"], &new["status"]);
    },
    warnings: |warnings, old, new| {
        warnings::template(warnings, old, new);
        if number(&new["spec"], "revisionHistoryLimit").is_some_and(|limit| limit < 0) {
            let why = "a negative value retains all historical revisions; a value >= 0 is recommended";
            warnings.push(format!("spec.revisionHistoryLimit: {why}"));
        }
    },
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn set_defaults(set: &mut Object) {
    let Some(spec) = ensure(set, "spec") else { return };
    default_text(spec, "podManagementPolicy", "OrderedReady");
    default(spec, "replicas", 1);
    default(spec, "revisionHistoryLimit", 10);
    if let Some(rolling) = rolling_update(spec, "updateStrategy") {
        default(rolling, "partition", 0);
        default(rolling, "maxUnavailable", 1);
    }
    if let Some(retention) = ensure(spec, "persistentVolumeClaimRetentionPolicy") {
        default_text(retention, "whenDeleted", "Retain");
        default_text(retention, "whenScaled", "Retain");
    }
    for claim in each(spec, "volumeClaimTemplates") {
        default_text(claim, "apiVersion", "v1");
        default_text(claim, "kind", "PersistentVolumeClaim");
        volume::claim(claim);
    }
    pod::template(spec);
}

/// Whether an object is new.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    New,
    Changed,
}

/// Validates a new StatefulSet, including immutable fields.
fn validate_new(errors: &mut ErrorList, object: &Value) {
    validate_spec(errors, &object["spec"], Age::New);
}

/// Validates a changed StatefulSet.
fn validate_changed(errors: &mut ErrorList, object: &Value) {
    validate_spec(errors, &object["spec"], Age::Changed);
}

fn validate_spec(errors: &mut ErrorList, spec: &Value, age: Age) {
    let at = Path::new("spec");
    match text(spec, "podManagementPolicy") {
        "OrderedReady" | "Parallel" => {}
        "" => errors.required(&at.child("podManagementPolicy"), ""),
        other => {
            let why = "must be 'OrderedReady' or 'Parallel'";
            errors.invalid(&at.child("podManagementPolicy"), &json!(other), why);
        }
    }
    update_strategy(errors, &at.child("updateStrategy"), &spec["updateStrategy"]);
    retention(errors, &at.child("persistentVolumeClaimRetentionPolicy"), spec);
    if age == Age::New {
        claim_templates(errors, &at.child("volumeClaimTemplates"), list(spec, "volumeClaimTemplates"));
    }
    errors.not_negative(&at, spec, "replicas");
    errors.not_negative(&at, spec, "minReadySeconds");
    errors.not_negative(&at.child("ordinals"), &spec["ordinals"], "start");
    let service = text(spec, "serviceName");
    if age == Age::New && !service.is_empty() {
        errors.invalid_text(&at.child("serviceName"), service, label(service));
    }
    if selector::of_template(errors, &at, spec, "statefulset") {
        selector::matches_template(errors, &at, spec);
        template::template(errors, &at.child("template"), &as_pod_template(spec)["template"]);
    }
    template::always_restarts(errors, &at, spec, "StatefulSet");
}

/// Validates claim templates; their names are validated as volumes of the template.
fn claim_templates(errors: &mut ErrorList, at: &Path<'_>, claims: &[Value]) {
    for (index, claim) in claims.iter().enumerate() {
        storage::claim(errors, &at.index(index).child("spec"), None, &claim["spec"]);
    }
}

fn retention(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let policy = &spec["persistentVolumeClaimRetentionPolicy"];
    for field in ["whenDeleted", "whenScaled"].into_iter().filter(|_| !policy.is_null()) {
        if !matches!(text(policy, field), "Retain" | "Delete") {
            errors.unsupported(&at.child(field), &policy[field], &["Retain", "Delete"]);
        }
    }
}

/// Returns the spec with the template as it is validated: with the volumes of the claims, and without the names that every pod
/// gets from the set.
fn as_pod_template(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if let Some(pod) = spec.pointer_mut("/template/spec").and_then(Value::as_object_mut) {
        pod.retain(|field, _| !matches!(field.as_str(), "hostname" | "subdomain"));
    }
    let templates = list(&spec, "volumeClaimTemplates").iter();
    let names: BTreeSet<_> = templates.map(|claim| text(&claim["metadata"], "name").to_owned()).collect();
    if names.is_empty() {
        return spec;
    }
    let claim = |name: &String| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
    let volumes = &mut spec["template"]["spec"]["volumes"];
    let given = volumes.as_array().cloned().unwrap_or_default();
    let is_replaced = |volume: &Value| volume["name"].as_str().is_some_and(|name| names.contains(name));
    let others = given.into_iter().filter(|volume| !is_replaced(volume));
    *volumes = others.chain(names.iter().map(claim)).collect();
    spec
}

/// Reports changes of immutable fields.
fn validate_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (at, old, new) = (Path::new("spec"), &old["spec"], &new["spec"]);
    immutable_selector(errors, old, new);
    let (before, after) = (list(old, "volumeClaimTemplates"), list(new, "volumeClaimTemplates"));
    let same_claims = before.len() == after.len()
        && before.iter().zip(after).all(|(old, new)| semantically_equal(CLAIM, old, new));
    if !same_claims {
        let shown = list_with_go_names(CLAIM, &new["volumeClaimTemplates"]);
        errors.invalid_formatted(&at.child("volumeClaimTemplates"), shown, "field is immutable");
    }
    for field in ["serviceName", "podManagementPolicy"] {
        errors.immutable(&at.child(field), text(old, field) == text(new, field), &json!(text(new, field)));
    }
}

fn update_strategy(errors: &mut ErrorList, at: &Path<'_>, strategy: &Value) {
    match text(strategy, "type") {
        "" => errors.required(at, ""),
        "OnDelete" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                let shown =
                    with_go_names("apps/v1.RollingUpdateStatefulSetStrategy", &strategy["rollingUpdate"]);
                errors.invalid_formatted(&at.child("rollingUpdate"), shown, why);
            }
        }
        "RollingUpdate" => {
            let (at, limits) = (at.child("rollingUpdate"), &strategy["rollingUpdate"]);
            errors.not_negative(&at, limits, "partition");
            if is_set(limits, "maxUnavailable") {
                count_or_percent(errors, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
                if is_nothing(&limits["maxUnavailable"]) {
                    errors.invalid(&at.child("maxUnavailable"), &limits["maxUnavailable"], "cannot be 0");
                }
                at_most_100_percent(errors, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
            }
        }
        _ => {
            let shown = with_go_names("apps/v1.StatefulSetUpdateStrategy", strategy);
            errors.invalid_formatted(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}
