//! StatefulSets, DaemonSets and ReplicationControllers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::deployment::{at_most_all, count_or_percent, is_nothing};
use super::found::{Found, Path, is_set, list, members, text};
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
pub(super) fn new_stateful_set(found: &mut Found, object: &Value) {
    stateful_set_spec(found, &object["spec"], Age::New);
}

/// A changed StatefulSet.
pub(super) fn stateful_set(found: &mut Found, object: &Value) {
    stateful_set_spec(found, &object["spec"], Age::Changed);
}

fn stateful_set_spec(found: &mut Found, spec: &Value, age: Age) {
    let at = Path::new("spec");
    match text(spec, "podManagementPolicy") {
        "OrderedReady" | "Parallel" => {}
        "" => found.required(&at.child("podManagementPolicy"), ""),
        other => {
            let why = "must be 'OrderedReady' or 'Parallel'";
            found.invalid(&at.child("podManagementPolicy"), &json!(other), why);
        }
    }
    update_strategy(found, &at.child("updateStrategy"), &spec["updateStrategy"]);
    retention(found, &at.child("persistentVolumeClaimRetentionPolicy"), spec);
    if age == Age::New {
        claim_templates(found, &at.child("volumeClaimTemplates"), list(spec, "volumeClaimTemplates"));
    }
    found.not_negative(&at, spec, "replicas");
    found.not_negative(&at, spec, "minReadySeconds");
    found.not_negative(&at.child("ordinals"), &spec["ordinals"], "start");
    let service = text(spec, "serviceName");
    if age == Age::New && !service.is_empty() {
        found.invalid_text(&at.child("serviceName"), service, label(service));
    }
    if selector::of_template(found, &at, spec, "statefulset") {
        selector::matches_template(found, &at, spec);
        template::template(found, &at.child("template"), &judged_by_pod(spec)["template"]);
    }
    template::runs_for_good(found, &at, spec, "StatefulSet");
}

/// Claims that every pod gets; how they are named is judged where they become volumes of the template.
fn claim_templates(found: &mut Found, at: &Path<'_>, claims: &[Value]) {
    for (index, claim) in claims.iter().enumerate() {
        storage::claim(found, &at.index(index).child("spec"), None, &claim["spec"]);
    }
}

fn retention(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let policy = &spec["persistentVolumeClaimRetentionPolicy"];
    for field in ["whenDeleted", "whenScaled"].into_iter().filter(|_| !policy.is_null()) {
        if !matches!(text(policy, field), "Retain" | "Delete") {
            found.unsupported(&at.child(field), &policy[field], &["Retain", "Delete"]);
        }
    }
}

/// The spec as its template is judged: with the volumes of its claims, where containers mount them, and without the names that
/// every pod gets from the set.
fn judged_by_pod(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if let Some(pod) = spec.pointer_mut("/template/spec").and_then(Value::as_object_mut) {
        pod.retain(|field, _| !matches!(field.as_str(), "hostname" | "subdomain"));
    }
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
pub(super) fn stateful_set_changes(found: &mut Found, old: &Value, new: &Value) {
    let (at, old, new) = (Path::new("spec"), &old["spec"], &new["spec"]);
    keeps_selector(found, old, new);
    let (before, after) = (list(old, "volumeClaimTemplates"), list(new, "volumeClaimTemplates"));
    let same_claims =
        before.len() == after.len() && before.iter().zip(after).all(|(old, new)| same(CLAIM, old, new));
    if !same_claims {
        let shown = list_with_go_names(CLAIM, &new["volumeClaimTemplates"]);
        found.invalid_shown(&at.child("volumeClaimTemplates"), shown, "field is immutable");
    }
    for field in ["serviceName", "podManagementPolicy"] {
        found.immutable(&at.child(field), text(old, field) == text(new, field), &json!(text(new, field)));
    }
}

/// The selector of a spec cannot be changed once pods were made by it.
pub(super) fn keeps_selector(found: &mut Found, old: &Value, new: &Value) {
    let (old, new) = (&old["selector"], &new["selector"]);
    if old.is_null() != new.is_null() || !same(SELECTOR, old, new) {
        let shown = if new.is_null() { "null".to_owned() } else { in_order(SELECTOR, new) };
        found.invalid_shown(&Path::new("spec").child("selector"), shown, "field is immutable");
    }
}

/// The spec of a DaemonSet. A selector that is not there is not asked for; it matches nothing.
pub(super) fn daemon_set(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    selector::understood_and_matching(found, &at, spec);
    if is_set(spec, "selector") && selector::is_empty(&spec["selector"]) {
        let why = "empty selector is invalid for daemonset";
        found.invalid_shown(&at.child("selector"), in_order(SELECTOR, &spec["selector"]), why);
    }
    template::of_services(found, &at, spec, "DaemonSet");
    found.not_negative(&at, spec, "minReadySeconds");
    let (strategy_at, strategy) = (at.child("updateStrategy"), &spec["updateStrategy"]);
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" if is_set(strategy, "rollingUpdate") => {
            daemon_limits(found, &strategy_at.child("rollingUpdate"), &strategy["rollingUpdate"]);
        }
        "RollingUpdate" => found.required(&strategy_at.child("rollingUpdate"), ""),
        _ => {
            let shown = with_go_names("apps/v1.DaemonSetUpdateStrategy", strategy);
            found.unsupported_shown(&strategy_at, shown, &["RollingUpdate", "OnDelete"]);
        }
    }
    found.not_negative(&at, spec, "revisionHistoryLimit");
}

/// A DaemonSet either takes pods away first or adds them first, not both.
fn daemon_limits(found: &mut Found, at: &Path<'_>, limits: &Value) {
    for field in ["maxUnavailable", "maxSurge"] {
        count_or_percent(found, &at.child(field), &limits[field]);
        at_most_all(found, &at.child(field), &limits[field]);
    }
    match (is_nothing(&limits["maxUnavailable"]), is_nothing(&limits["maxSurge"])) {
        (false, false) => {
            let why = "may not be set when maxUnavailable is non-zero";
            found.invalid(&at.child("maxSurge"), &limits["maxSurge"], why);
        }
        (true, true) => found.required(&at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

/// The spec of a ReplicationController, whose selector is a plain map.
pub(super) fn replication_controller(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let selects = members(spec, "selector").next().is_some();
    if !selects {
        found.required(&at.child("selector"), "");
    }
    if is_set(spec, "template") {
        let labels = &spec["template"]["metadata"]["labels"];
        if selects && !members(spec, "selector").all(|(key, value)| &labels[key.as_str()] == value) {
            let (template, why) = (at.child("template"), "`selector` does not match template `labels`");
            found.invalid(&template.child("metadata").child("labels"), labels, why);
        }
        template::of_services(found, &at, spec, "ReplicationController");
    } else {
        found.required(&at.child("template"), "");
    }
    found.not_negative(&at, spec, "replicas");
    found.not_negative(&at, spec, "minReadySeconds");
}

fn update_strategy(found: &mut Found, at: &Path<'_>, strategy: &Value) {
    match text(strategy, "type") {
        "" => found.required(at, ""),
        "OnDelete" => {
            if is_set(strategy, "rollingUpdate") {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                let shown =
                    with_go_names("apps/v1.RollingUpdateStatefulSetStrategy", &strategy["rollingUpdate"]);
                found.invalid_shown(&at.child("rollingUpdate"), shown, why);
            }
        }
        "RollingUpdate" => {
            let (at, limits) = (at.child("rollingUpdate"), &strategy["rollingUpdate"]);
            found.not_negative(&at, limits, "partition");
            if is_set(limits, "maxUnavailable") {
                count_or_percent(found, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
                if is_nothing(&limits["maxUnavailable"]) {
                    found.invalid(&at.child("maxUnavailable"), &limits["maxUnavailable"], "cannot be 0");
                }
                at_most_all(found, &at.child("maxUnavailable"), &limits["maxUnavailable"]);
            }
        }
        _ => {
            let shown = with_go_names("apps/v1.StatefulSetUpdateStrategy", strategy);
            found.invalid_shown(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}
