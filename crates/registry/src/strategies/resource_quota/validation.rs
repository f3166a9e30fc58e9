//! Validates ResourceQuotas.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use crate::validation::resource_names::{amount, for_quota, is_for_quota, parse};

const POD_COMPUTE: [&str; 6] =
    ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];
const OPPOSITES: [(&str, &str); 2] = [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")];
const EXISTS_ONLY: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
     ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
     ResourceQuotaScopeCrossNamespacePodAffinity";

/// Validates the spec of a ResourceQuota.
pub(crate) fn quota(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    amounts(errors, &at, spec, "hard");
    scopes(errors, &at.child("scopes"), spec);
    if is_set(spec, "scopeSelector") {
        let at = at.child("scopeSelector");
        selector(errors, &at.child("matchExpressions"), spec);
    }
}

/// Reports a change of the scopes, which are immutable.
pub(crate) fn changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let set = |quota: &Value| -> BTreeSet<String> {
        list(&quota["spec"], "scopes").iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let at = Path::new("spec");
    errors.immutable(&at.child("scopes"), set(old) == set(new), &new["spec"]["scopes"]);
}

/// Warns about a quota whose requests exceed its limits.
pub(crate) fn warnings(warnings: &mut Vec<String>, spec: &Value) {
    for resource in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (requests, limits) = (format!("requests.{resource}"), format!("limits.{resource}"));
        let hard = |name: &str| parse(&spec["hard"][name]);
        let short = matches!(resource, "cpu" | "memory").then_some(resource);
        let mut names = [Some(requests.as_str()), short].into_iter().flatten();
        let Some((name, request)) = names.find_map(|name| Some((name, hard(name)?))) else {
            continue;
        };
        if let Some(limit) = hard(&limits).filter(|limit| request.billionths() > limit.billionths()) {
            warnings.push(format!("ResourceQuota {name} ({request}) should be less than {limits} ({limit})"));
        }
    }
}

/// Validates the status of a ResourceQuota.
pub(crate) fn status(errors: &mut ErrorList, object: &Value) {
    let at = Path::new("status");
    amounts(errors, &at, &object["status"], "hard");
    amounts(errors, &at, &object["status"], "used");
}

fn amounts(errors: &mut ErrorList, at: &Path<'_>, holder: &Value, field: &str) {
    let at = at.child(field);
    for (name, value) in errors.members(&at, holder, field) {
        for_quota(errors, &at.key(name), name);
        amount(errors, &at.key(name), name, value);
    }
}

fn scopes(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let scopes: Vec<_> = list(spec, "scopes").iter().filter_map(Value::as_str).collect();
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            errors.invalid(at, &spec["scopes"], "unsupported scope");
        }
        for _ in resources_out_of(scope, spec) {
            errors.invalid(at, &spec["scopes"], "unsupported scope applied to resource");
        }
    }
    conflicts(errors, at, spec, &scopes);
}

fn selector(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let terms = list(&spec["scopeSelector"], "matchExpressions");
    let mut scopes = Vec::new();
    for term in terms {
        let (scope, operator) = (text(term, "scopeName"), text(term, "operator"));
        if !SCOPES.contains(&scope) {
            errors.invalid(&at.child("scopeName"), &json!(scope), "unsupported scope");
        }
        for _ in resources_out_of(scope, spec) {
            let why = "unsupported scope applied to resource";
            errors.invalid_formatted(at, shown(&spec["scopeSelector"]), why);
        }
        let takes_values = matches!(scope, "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope) && !takes_values && operator != "Exists" {
            errors.invalid(&at.child("operator"), &json!(operator), EXISTS_ONLY);
        }
        values(errors, at, term);
        scopes.push(scope);
    }
    conflicts(errors, at, spec, &scopes);
}

/// Formats a scope selector with the Go names of fields.
fn shown(selector: &Value) -> String {
    let terms = list(selector, "matchExpressions").iter().map(|term| {
        format!(
            "{{\"ScopeName\":{},\"Operator\":{},\"Values\":{}}}",
            json!(text(term, "scopeName")),
            json!(text(term, "operator")),
            term["values"]
        )
    });
    match terms.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => "{\"MatchExpressions\":null}".to_owned(),
        terms => format!("{{\"MatchExpressions\":[{terms}]}}"),
    }
}

fn values(errors: &mut ErrorList, at: &Path<'_>, term: &Value) {
    let has_values = !list(term, "values").is_empty();
    match text(term, "operator") {
        "In" | "NotIn" if !has_values => {
            let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
            errors.required(&at.child("values"), why);
        }
        "Exists" | "DoesNotExist" if has_values => {
            let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
            errors.invalid(&at.child("values"), &term["values"], why);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        operator => {
            errors.invalid(&at.child("operator"), &json!(operator), "not a valid selector operator");
        }
    }
}

fn conflicts(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, scopes: &[&str]) {
    for (one, other) in OPPOSITES {
        if scopes.contains(&one) && scopes.contains(&other) {
            errors.invalid(at, spec.get("scopes").unwrap_or(&Value::Null), "conflicting scopes");
        }
    }
}

/// Reports limited resources to which a scope does not apply.
fn resources_out_of<'a>(scope: &'a str, spec: &'a Value) -> impl Iterator<Item = &'a str> {
    let applies = move |name: &str| match scope {
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        scope if SCOPES.contains(&scope) => name == "pods" || POD_COMPUTE.contains(&name),
        _ => true,
    };
    members(spec, "hard")
        .map(|(name, _)| name.as_str())
        .filter(move |name| is_for_quota(name) && !applies(name))
}
