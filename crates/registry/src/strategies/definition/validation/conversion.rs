//! Validates the conversion of a definition.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::custom::{certificates, condition};
use crate::validation::error_list::{ErrorList, Path, is_set, list, text};
use crate::validation::names::label_from_a_letter;
use crate::validation::webhook_client;

const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
const NOT_WITHOUT_WEBHOOK: &str = "should not be set when strategy is not set to Webhook";

/// Which CA bundles are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bundles {
    /// Any: a controller may set a valid one later.
    Any,
    /// Valid ones.
    Valid,
}

impl Bundles {
    /// Returns the rule for updates of a definition: an established one must keep a valid bundle valid.
    pub(super) fn of(old: &Value) -> Self {
        let bundle = old["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].as_str();
        let was_bad = certificates::problem(bundle.unwrap_or_default()).is_some();
        if was_bad || !condition::holds(old, condition::ESTABLISHED) { Self::Any } else { Self::Valid }
    }
}

/// Validates the strategy and its fields.
pub(super) fn conversion(errors: &mut ErrorList, at: &Path<'_>, conversion: &Value, bundles: Bundles) {
    if conversion.is_null() {
        return;
    }
    errors.one_of(&at.child("strategy"), &conversion["strategy"], &["None", "Webhook"]);
    let (webhook, reviews_at) = (&conversion["webhook"], at.child("conversionReviewVersions"));
    let (config_at, config) = (at.child("webhookClientConfig"), &webhook["clientConfig"]);
    let reviews = list(webhook, "conversionReviewVersions");
    if conversion["strategy"] == "Webhook" {
        if config.is_null() {
            errors.required(&config_at, "required when strategy is set to Webhook");
        } else {
            client(errors, &config_at, config, bundles);
        }
        review_versions(errors, &reviews_at, reviews);
        return;
    }
    if !config.is_null() {
        errors.forbidden(&config_at, NOT_WITHOUT_WEBHOOK);
    }
    if !reviews.is_empty() {
        errors.forbidden(&reviews_at, NOT_WITHOUT_WEBHOOK);
    }
}

fn client(errors: &mut ErrorList, at: &Path<'_>, config: &Value, bundles: Bundles) {
    match (config["url"].as_str(), is_set(config, "service")) {
        (Some(link), false) => webhook_client::url(errors, &at.child("url"), link),
        (None, true) => service(errors, &at.child("service"), &config["service"]),
        _ => errors.required(at, "exactly one of url or service is required"),
    }
    if bundles == Bundles::Valid
        && let Some(problem) = certificates::problem(text(config, "caBundle"))
    {
        errors.invalid(&at.child("caBundle"), &config["caBundle"], problem);
    }
}

fn service(errors: &mut ErrorList, at: &Path<'_>, service: &Value) {
    // Kubernetes swaps the two.
    for (field, reported_as) in [("namespace", "name"), ("name", "namespace")] {
        if text(service, field).is_empty() {
            errors.required(&at.child(reported_as), "");
        }
    }
    webhook_client::port_and_path(errors, at, service);
}

fn review_versions(errors: &mut ErrorList, at: &Path<'_>, versions: &[Value]) {
    if versions.is_empty() {
        return errors.required(at, "");
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let name = version.as_str().unwrap_or_default();
        if seen.insert(name) {
            errors.invalid_text(&at.index(index), name, label_from_a_letter(name));
        } else {
            errors.invalid(&at.index(index), version, "duplicate version");
        }
    }
    if !REVIEWS.iter().any(|known| seen.contains(known)) {
        let why = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.invalid(at, &json!(versions), why);
    }
}
