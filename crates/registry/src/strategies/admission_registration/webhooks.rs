//! Configurations of admission webhooks.

use gantry_json::{Value, json};

use super::{rules, set_matching_defaults};
use crate::defaults::setting::{Object, child, default, each};
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::names::{label_from_a_letter, subdomain};
use crate::validation::webhook_client;

const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];
const SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const TIMEOUT_SECONDS: std::ops::RangeInclusive<i64> = 1..=30;

pub(super) fn set_defaults(object: &mut Object, is_mutating: bool) {
    for hook in each(object, "webhooks") {
        default(hook, "failurePolicy", "Fail");
        set_matching_defaults(hook);
        default(hook, "timeoutSeconds", 10);
        if is_mutating {
            default(hook, "reinvocationPolicy", "Never");
        }
        for rule in each(hook, "rules") {
            default(rule, "scope", "*");
        }
        if let Some(service) = child(hook, "clientConfig").and_then(|config| child(config, "service")) {
            default(service, "port", 443);
        }
    }
}

pub(super) fn validate(errors: &mut ErrorList, old: Option<&Value>, new: &Value, is_mutating: bool) {
    let webhooks = list(new, "webhooks");
    let at = Path::new("webhooks");
    for (index, hook) in webhooks.iter().enumerate() {
        let at = at.index(index);
        validate_webhook(errors, &at, hook, is_mutating);
        validate_versions(errors, &at.child("admissionReviewVersions"), hook, old);
        let name = text(hook, "name");
        let is_repeated = webhooks[..index].iter().any(|earlier| text(earlier, "name") == name);
        if !name.is_empty() && is_repeated {
            errors.duplicate(&at.child("name"), &hook["name"]);
        }
    }
}

fn validate_webhook(errors: &mut ErrorList, at: &Path<'_>, hook: &Value, is_mutating: bool) {
    validate_name(errors, &at.child("name"), text(hook, "name"));
    let at_rules = at.child("rules");
    for (index, rule) in list(hook, "rules").iter().enumerate() {
        rules::validate(errors, &at_rules.index(index), rule, true);
    }
    let one_of = |errors: &mut ErrorList, field: &str, allowed: &[&str]| {
        let value = &hook[field];
        if !value.is_null() && !value.as_str().is_some_and(|word| allowed.contains(&word)) {
            errors.unsupported(&at.child(field), value, allowed);
        }
    };
    one_of(errors, "failurePolicy", &FAILURE_POLICIES);
    one_of(errors, "matchPolicy", &MATCH_POLICIES);
    if hook["sideEffects"].is_null() {
        let why = format!("must specify one of {}", SIDE_EFFECTS.join(", "));
        errors.required(&at.child("sideEffects"), &why);
    }
    one_of(errors, "sideEffects", &SIDE_EFFECTS);
    if number(hook, "timeoutSeconds").is_some_and(|seconds| !TIMEOUT_SECONDS.contains(&seconds)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        errors.invalid(&at.child("timeoutSeconds"), &hook["timeoutSeconds"], why);
    }
    rules::validate_selectors(errors, at, hook);
    if is_mutating {
        one_of(errors, "reinvocationPolicy", &REINVOCATION_POLICIES);
    }
    validate_client(errors, &at.child("clientConfig"), &hook["clientConfig"]);
    rules::validate_conditions(errors, &at.child("matchConditions"), list(hook, "matchConditions"));
}

fn validate_name(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return errors.required(at, "");
    }
    let wrong = subdomain(name);
    if !wrong.is_empty() {
        return errors.invalid(at, &json!(name), wrong.join(","));
    }
    if name.split('.').count() < 3 {
        let why = "should be a domain with at least three segments separated by dots";
        errors.invalid(at, &json!(name), why);
    }
}

fn validate_client(errors: &mut ErrorList, at: &Path<'_>, config: &Value) {
    match (config["url"].as_str(), is_set(config, "service")) {
        (Some(url), false) => webhook_client::url(errors, &at.child("url"), url),
        (None, true) => {
            let (at, service) = (at.child("service"), &config["service"]);
            for field in ["name", "namespace"] {
                if text(service, field).is_empty() {
                    errors.required(&at.child(field), "");
                }
            }
            webhook_client::port_and_path(errors, &at, service);
        }
        _ => errors.required(at, "exactly one of url or service is required"),
    }
}

/// Validates the versions of reviews. A supported one is not required if a webhook was stored without one.
fn validate_versions(errors: &mut ErrorList, at: &Path<'_>, hook: &Value, old: Option<&Value>) {
    let versions = list(hook, "admissionReviewVersions");
    if versions.is_empty() {
        return errors.required(at, &format!("must specify one of {}", REVIEW_VERSIONS.join(", ")));
    }
    for (index, version) in versions.iter().enumerate() {
        if versions[..index].contains(version) {
            errors.invalid(&at.index(index), version, "duplicate version");
            continue;
        }
        let version = version.as_str().unwrap_or_default();
        errors.invalid_text(&at.index(index), version, label_from_a_letter(version));
    }
    let knows_one = |versions: &[Value]| {
        versions.iter().any(|version| REVIEW_VERSIONS.iter().any(|known| version == known))
    };
    let knew_all = old.is_none_or(|old| {
        list(old, "webhooks").iter().all(|hook| knows_one(list(hook, "admissionReviewVersions")))
    });
    if knew_all && !knows_one(versions) {
        let why = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.invalid(at, &json!(versions), why);
    }
}
