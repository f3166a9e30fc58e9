//! Validates HorizontalPodAutoscalers.

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::names::{label, path_segment};
use crate::validation::resource_names::{for_container, parse};

const LONGEST_PERIOD: i64 = 1800;
const LONGEST_WINDOW: i64 = 3600;
const METRIC_TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
/// The fields of metric sources, in the order in which they are checked, each with its type.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];

/// Which API versions a reference may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Versions {
    /// Any: the stored object has it.
    Any,
    /// With or without a group.
    Parsed,
    /// With a group.
    Grouped,
}

/// Validates a HorizontalPodAutoscaler.
pub(crate) fn autoscaler(errors: &mut ErrorList, old: Option<&Value>, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let least = number(spec, "minReplicas");
    let (most_at, most) = (at.child("maxReplicas"), number(spec, "maxReplicas").unwrap_or(0));
    if least.is_some_and(|least| most < least) {
        errors.invalid(&most_at, &json!(most), "must be greater than or equal to `minReplicas`");
    }
    let versions = target_versions(old, spec);
    reference(errors, &at.child("scaleTargetRef"), &spec["scaleTargetRef"], versions);
    let described = described_versions(old);
    let metrics = list(spec, "metrics");
    for (index, metric) in metrics.iter().enumerate() {
        one_metric(errors, &at.child("metrics").index(index), metric, described);
    }
    let can_scale_to_zero =
        metrics.iter().any(|metric| matches!(text(metric, "type"), "Object" | "External"));
    if number(spec, "minReplicas") == Some(0) && !can_scale_to_zero {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden(&at.child("metrics"), why);
    }
    for direction in ["scaleUp", "scaleDown"] {
        if is_set(&spec["behavior"], direction) {
            let at = at.child("behavior");
            rules(errors, &at.child(direction), &spec["behavior"][direction]);
        }
    }
    errors.not_negative(&at, spec, "minReplicas");
    match most {
        0 => errors.required(&most_at, ""),
        ..0 => errors.invalid(&most_at, &json!(most), "must be greater than or equal to 1"),
        _ => {}
    }
}

/// Validates the status of a HorizontalPodAutoscaler.
pub(crate) fn status(errors: &mut ErrorList, object: &Value) {
    let (at, status) = (Path::new("status"), &object["status"]);
    for (index, condition) in list(status, "conditions").iter().enumerate() {
        errors.not_negative(&at.child("conditions").index(index), condition, "observedGeneration");
    }
    errors.not_negative(&at, status, "currentReplicas");
    errors.not_negative(&at, status, "desiredReplicas");
}

/// Returns the API versions that the target may have: an unchanged one is accepted; otherwise only ReplicationControllers
/// may be without a group.
fn target_versions(old: Option<&Value>, spec: &Value) -> Versions {
    let target = &spec["scaleTargetRef"];
    let is_same = |old: &Value| {
        let before = &old["spec"]["scaleTargetRef"];
        ["apiVersion", "kind"].into_iter().all(|field| text(before, field) == text(target, field))
    };
    if old.is_some_and(is_same) {
        Versions::Any
    } else if text(target, "kind") == "ReplicationController" {
        Versions::Parsed
    } else {
        Versions::Grouped
    }
}

fn described_versions(old: Option<&Value>) -> Versions {
    let metrics = old.map_or(&[][..], |old| list(&old["spec"], "metrics"));
    let is_wrong = |metric: &Value| {
        let reference = &metric["object"]["describedObject"];
        is_set(metric, "object") && wrong_version(text(reference, "apiVersion"), Versions::Parsed).is_some()
    };
    if metrics.iter().any(is_wrong) { Versions::Any } else { Versions::Parsed }
}

fn reference(errors: &mut ErrorList, at: &Path<'_>, reference: &Value, versions: Versions) {
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => errors.required(&at.child(field), ""),
            name => errors.invalid_text(&at.child(field), name, path_segment(name)),
        }
    }
    let version = text(reference, "apiVersion");
    if let Some(why) = wrong_version(version, versions) {
        errors.invalid(&at.child("apiVersion"), &json!(version), why);
    }
}

fn wrong_version(version: &str, allowed: Versions) -> Option<String> {
    if allowed == Versions::Any {
        return None;
    }
    let group = match version.matches('/').count() {
        0 => "",
        1 => version.split_once('/').map_or("", |(group, _)| group),
        _ => return Some(format!("unexpected GroupVersion string: {version}")),
    };
    let needs_group = allowed == Versions::Grouped && group.is_empty();
    needs_group.then(|| "apiVersion must specify API group".to_owned())
}

fn one_metric(errors: &mut ErrorList, at: &Path<'_>, metric: &Value, versions: Versions) {
    let kind = text(metric, "type");
    let type_at = at.child("type");
    if kind.is_empty() {
        errors.required(&type_at, "must specify a metric source type");
    }
    if !METRIC_TYPES.contains(&kind) {
        errors.unsupported(&type_at, &json!(kind), &METRIC_TYPES);
    }
    let present: Vec<_> = SOURCES.iter().filter(|(field, _)| is_set(metric, field)).collect();
    if let Some((field, _)) = present.first() {
        source(errors, &at.child(field), field, &metric[*field], versions);
    }
    let expected = SOURCES.iter().find(|(_, name)| *name == kind).map(|(field, _)| *field);
    match expected {
        Some(field) if !is_set(metric, field) => {
            errors.required(&at.child(field), "must populate information for the given metric source");
        }
        _ => {}
    }
    if present.len() > 1 {
        for (field, _) in present.iter().filter(|(field, _)| Some(*field) != expected) {
            errors.forbidden(&at.child(field), "must populate the given metric source only");
        }
    }
}

fn source(errors: &mut ErrorList, at: &Path<'_>, field: &str, source: &Value, versions: Versions) {
    let target = &source["target"];
    let (has_value, has_average) = (is_set(target, "value"), is_set(target, "averageValue"));
    let target_at = at.child("target");
    match field {
        "object" => {
            reference(errors, &at.child("describedObject"), &source["describedObject"], versions);
            metric_name(errors, at, source);
        }
        "external" | "pods" => metric_name(errors, at, source),
        _ => resource(errors, at, field, source),
    }
    one_target(errors, &target_at, target);
    match field {
        "object" if !has_value && !has_average => {
            let why = "must set either a target value or averageValue";
            errors.required(&target_at.child("averageValue"), why);
        }
        "external" if !has_value && !has_average => {
            let why = "must set either a target value for metric or a per-pod target";
            errors.required(&target_at.child("averageValue"), why);
        }
        "external" if has_value && has_average => {
            let why = "may not set both a target value for metric and a per-pod target";
            errors.forbidden(&target_at.child("value"), why);
        }
        "pods" if !has_average => {
            errors.required(&target_at.child("averageValue"), "must specify a positive target averageValue");
        }
        "resource" | "containerResource" => {
            utilization_or_value(errors, &target_at, is_set(target, "averageUtilization"), has_average);
        }
        _ => {}
    }
}

fn metric_name(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let at = at.child("metric");
    match text(&source["metric"], "name") {
        "" => errors.required(&at.child("name"), "must specify a metric name"),
        name => errors.invalid_text(&at.child("name"), name, path_segment(name)),
    }
}

fn resource(errors: &mut ErrorList, at: &Path<'_>, field: &str, source: &Value) {
    let is_of_container = field == "containerResource";
    match text(source, "name") {
        "" => errors.required(&at.child("name"), "must specify a resource name"),
        name if is_of_container => for_container(errors, &at.child("name"), name),
        _ => {}
    }
    match text(source, "container") {
        "" if is_of_container => errors.required(&at.child("container"), "must specify a container"),
        name if is_of_container => errors.invalid_text(&at.child("container"), name, label(name)),
        _ => {}
    }
}

fn utilization_or_value(errors: &mut ErrorList, at: &Path<'_>, has_utilization: bool, has_value: bool) {
    match (has_utilization, has_value) {
        (false, false) => {
            let why = "must set either a target raw value or a target utilization";
            errors.required(&at.child("averageUtilization"), why);
        }
        (true, true) => {
            let why = "may not set both a target raw value and a target utilization";
            errors.forbidden(&at.child("averageValue"), why);
        }
        _ => {}
    }
}

fn one_target(errors: &mut ErrorList, at: &Path<'_>, target: &Value) {
    let kind = text(target, "type");
    if kind.is_empty() {
        errors.required(&at.child("type"), "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        errors.invalid(&at.child("type"), &json!(kind), "must be either Utilization, Value, or AverageValue");
    }
    for field in ["value", "averageValue"] {
        if parse(&target[field]).is_some_and(|quantity| quantity.billionths() <= 0) {
            errors.invalid(&at.child(field), &target[field], "must be positive");
        }
    }
    if number(target, "averageUtilization").is_some_and(|percent| percent < 1) {
        let at = at.child("averageUtilization");
        errors.invalid(&at, &target["averageUtilization"], "must be greater than 0");
    }
}

fn rules(errors: &mut ErrorList, at: &Path<'_>, rules: &Value) {
    let (window_at, window) = (at.child("stabilizationWindowSeconds"), &rules["stabilizationWindowSeconds"]);
    match window.as_i64() {
        Some(..0) => errors.invalid(&window_at, window, "must be greater than or equal to zero"),
        Some(seconds) if seconds > LONGEST_WINDOW => {
            errors.invalid(&window_at, window, format!("must be less than or equal to {LONGEST_WINDOW}"));
        }
        _ => {}
    }
    if let Some(policy) = rules["selectPolicy"].as_str()
        && !["Disabled", "Max", "Min"].contains(&policy)
    {
        let known = ["Disabled", "Max", "Min"];
        errors.unsupported(&at.child("selectPolicy"), &rules["selectPolicy"], &known);
    }
    let (policies_at, policies) = (at.child("policies"), list(rules, "policies"));
    if policies.is_empty() {
        errors.required(&policies_at, "must specify at least one Policy");
    }
    for (index, policy) in policies.iter().enumerate() {
        one_policy(errors, &policies_at.index(index), policy);
    }
    let tolerance = &rules["tolerance"];
    if parse(tolerance).is_some_and(|quantity| quantity.billionths() < 0) {
        errors.invalid(&at.child("tolerance"), tolerance, "must be greater than or equal to 0");
    }
}

fn one_policy(errors: &mut ErrorList, at: &Path<'_>, policy: &Value) {
    let kind = text(policy, "type");
    if !matches!(kind, "Percent" | "Pods") {
        errors.unsupported(&at.child("type"), &json!(kind), &["Percent", "Pods"]);
    }
    for field in ["value", "periodSeconds"] {
        let value = number(policy, field).unwrap_or(0);
        if value <= 0 {
            errors.invalid(&at.child(field), &json!(value), "must be greater than zero");
        }
    }
    if let Some(seconds) = number(policy, "periodSeconds").filter(|seconds| *seconds > LONGEST_PERIOD) {
        let why = format!("must be less than or equal to {LONGEST_PERIOD}");
        errors.invalid(&at.child("periodSeconds"), &json!(seconds), why);
    }
}
