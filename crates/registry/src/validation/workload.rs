//! StatefulSets, DaemonSets and ReplicationControllers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::deployment::{at_most_all, count_or_percent, is_nothing};
use super::error_list::{ErrorList, Path, is_set, list, members, text};
use super::names::label;
use super::shown::{in_order, list_with_go_names, with_go_names};
use super::{same, selector, storage, template};

const CLAIM: &str = "core/v1.PersistentVolumeClaim";
const SELECTOR: &str = "meta/v1.LabelSelector";

/// Whether an object is judged for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    New,
    Changed,
}

/// A new StatefulSet: what cannot be changed later is judged once.
pub(crate) fn new_stateful_set(errors: &mut ErrorList, object: &Value) {
    stateful_set_spec(errors, &object["spec"], Age::New);
}

/// A changed StatefulSet.
pub(crate) fn stateful_set(errors: &mut ErrorList, object: &Value) {
    stateful_set_spec(errors, &object["spec"], Age::Changed);
}

fn stateful_set_spec(errors: &mut ErrorList, spec: &Value, age: Age) {
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
        template::template(errors, &at.child("template"), &with_claims(spec)["template"]);
    }
    template::runs_for_good(errors, &at, spec, "StatefulSet");
}

/// Claims that every pod gets; how they are named is judged where they become volumes of the template.
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

/// The spec with the volumes of its claims in the template, where containers mount them.
fn with_claims(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let names: BTreeSet<_> =
        list(&spec, "volumeClaimTemplates").iter().map(|claim| text(&claim["metadata"], "name")).collect();
    let claims: Vec<_> = names
        .into_iter()
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
        .collect();
    if claims.is_empty() {
        return spec;
    }
    let volumes = &mut spec["template"]["spec"]["volumes"];
    let given = volumes.as_array().cloned().unwrap_or_default();
    let is_replaced = |volume: &Value| claims.iter().any(|claim| claim["name"] == volume["name"]);
    let others: Vec<_> = given.into_iter().filter(|volume| !is_replaced(volume)).collect();
    *volumes = others.into_iter().chain(claims.iter().cloned()).collect();
    spec
}

/// What pods were made by cannot be changed.
pub(crate) fn stateful_set_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (at, old, new) = (Path::new("spec"), &old["spec"], &new["spec"]);
    keeps_selector(errors, old, new);
    let (before, after) = (list(old, "volumeClaimTemplates"), list(new, "volumeClaimTemplates"));
    let same_claims =
        before.len() == after.len() && before.iter().zip(after).all(|(old, new)| same(CLAIM, old, new));
    if !same_claims {
        let shown = list_with_go_names(CLAIM, &new["volumeClaimTemplates"]);
        errors.invalid_shown(&at.child("volumeClaimTemplates"), shown, "field is immutable");
    }
    for field in ["serviceName", "podManagementPolicy"] {
        errors.immutable(&at.child(field), text(old, field) == text(new, field), &json!(text(new, field)));
    }
}

/// The selector of a spec cannot be changed once pods were made by it.
pub(crate) fn keeps_selector(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (old, new) = (&old["selector"], &new["selector"]);
    if old.is_null() != new.is_null() || !same(SELECTOR, old, new) {
        let shown = if new.is_null() { "null".to_owned() } else { in_order(SELECTOR, new) };
        errors.invalid_shown(&Path::new("spec").child("selector"), shown, "field is immutable");
    }
}

/// The spec of a DaemonSet. A selector that is not there is not asked for; it matches nothing.
pub(crate) fn daemon_set(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    selector::understood_and_matching(errors, &at, spec);
    if is_set(spec, "selector") && selector::is_empty(&spec["selector"]) {
        let why = "empty selector is invalid for daemonset";
        errors.invalid_shown(&at.child("selector"), in_order(SELECTOR, &spec["selector"]), why);
    }
    template::of_services(errors, &at, spec, "DaemonSet");
    errors.not_negative(&at, spec, "minReadySeconds");
    let (strategy_at, strategy) = (at.child("updateStrategy"), &spec["updateStrategy"]);
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" if is_set(strategy, "rollingUpdate") => {
            daemon_limits(errors, &strategy_at.child("rollingUpdate"), &strategy["rollingUpdate"]);
        }
        "RollingUpdate" => errors.required(&strategy_at.child("rollingUpdate"), ""),
        _ => {
            let shown = with_go_names("apps/v1.DaemonSetUpdateStrategy", strategy);
            errors.unsupported_shown(&strategy_at, shown, &["RollingUpdate", "OnDelete"]);
        }
    }
    errors.not_negative(&at, spec, "revisionHistoryLimit");
}

/// A DaemonSet either takes pods away first or adds them first, not both.
fn daemon_limits(errors: &mut ErrorList, at: &Path<'_>, limits: &Value) {
    for field in ["maxUnavailable", "maxSurge"] {
        count_or_percent(errors, &at.child(field), &limits[field]);
        at_most_all(errors, &at.child(field), &limits[field]);
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

/// The spec of a ReplicationController, whose selector is a plain map.
pub(crate) fn replication_controller(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let selects = members(spec, "selector").next().is_some();
    if !selects {
        errors.required(&at.child("selector"), "");
    }
    if is_set(spec, "template") {
        let labels = &spec["template"]["metadata"]["labels"];
        if selects && !members(spec, "selector").all(|(key, value)| &labels[key.as_str()] == value) {
            let (template, why) = (at.child("template"), "`selector` does not match template `labels`");
            errors.invalid(&template.child("metadata").child("labels"), labels, why);
        }
        template::of_services(errors, &at, spec, "ReplicationController");
    } else {
        errors.required(&at.child("template"), "");
    }
    errors.not_negative(&at, spec, "replicas");
    errors.not_negative(&at, spec, "minReadySeconds");
}

fn update_strategy(errors: &mut ErrorList, at: &Path<'_>, strategy: &Value) {
    match text(strategy, "type") {
        "" => errors.required(at, ""),
        "OnDelete" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                let shown =
                    with_go_names("apps/v1.RollingUpdateStatefulSetStrategy", &strategy["rollingUpdate"]);
                errors.invalid_shown(&at.child("rollingUpdate"), shown, why);
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
                at_most_all(errors, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
            }
        }
        _ => {
            let shown = with_go_names("apps/v1.StatefulSetUpdateStrategy", strategy);
            errors.invalid_shown(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}
