//! Configurations of admission webhooks, and admission policies with their bindings.
//!
//! They are stored and not enforced: the response to a create has a warning, because what they forbid is not forbidden.

mod policies;
mod rules;
mod webhooks;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::setting::{Object, child, default, each};
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

pub(super) const VALIDATING_WEBHOOKS: KindStrategy = KindStrategy {
    defaults: |object| webhooks::set_defaults(object, false),
    validate: |errors, _, old, new| webhooks::validate(errors, old, new, false),
    warnings: |warnings, old, _| warn(warnings, old, "webhook", "this server calls no webhooks"),
    rows: Rows::new(WEBHOOK_COLUMNS, webhook_cells),
    ..KindStrategy::DEFAULT
};

pub(super) const MUTATING_WEBHOOKS: KindStrategy = KindStrategy {
    defaults: |object| webhooks::set_defaults(object, true),
    validate: |errors, _, old, new| webhooks::validate(errors, old, new, true),
    ..VALIDATING_WEBHOOKS
};

pub(super) const VALIDATING_POLICY: KindStrategy = KindStrategy {
    defaults: set_policy_defaults,
    initial_status: |_| Some(json!({})),
    validate: |errors, _, _, new| policies::validate_validating(errors, new),
    warnings: warn_of_policy,
    rows: Rows::new(VALIDATING_POLICY_COLUMNS, validating_policy_cells),
    ..KindStrategy::DEFAULT
};

pub(super) const MUTATING_POLICY: KindStrategy = KindStrategy {
    defaults: set_policy_defaults,
    validate: |errors, _, _, new| policies::validate_mutating(errors, new),
    warnings: warn_of_policy,
    rows: Rows::new(MUTATING_POLICY_COLUMNS, mutating_policy_cells),
    ..KindStrategy::DEFAULT
};

pub(super) const VALIDATING_BINDING: KindStrategy = KindStrategy {
    defaults: set_binding_defaults,
    validate: |errors, _, _, new| policies::validate_binding(errors, new, true),
    warnings: warn_of_policy,
    rows: Rows::new(BINDING_COLUMNS, binding_cells),
    ..KindStrategy::DEFAULT
};

pub(super) const MUTATING_BINDING: KindStrategy = KindStrategy {
    validate: |errors, _, _, new| policies::validate_binding(errors, new, false),
    ..VALIDATING_BINDING
};

const WEBHOOK_COLUMNS: &[Column] = &[column::NAME, column::number("Webhooks"), column::AGE];
const VALIDATING_POLICY_COLUMNS: &[Column] =
    &[column::NAME, column::number("Validations"), column::text("ParamKind"), column::AGE];
const MUTATING_POLICY_COLUMNS: &[Column] =
    &[column::NAME, column::number("Mutations"), column::text("ParamKind"), column::AGE];
const BINDING_COLUMNS: &[Column] =
    &[column::NAME, column::text("PolicyName"), column::text("ParamRef"), column::AGE];

/// Warns about a new object that has no effect.
fn warn(warnings: &mut Vec<String>, old: Option<&Value>, what: &str, why: &str) {
    if old.is_none() {
        warnings.push(format!("this {what} configuration is stored, but not enforced: {why}"));
    }
}

fn warn_of_policy(warnings: &mut Vec<String>, old: Option<&Value>, _: &Value) {
    warn(warnings, old, "policy", "this server evaluates no admission policies");
}

fn set_policy_defaults(object: &mut Object) {
    let Some(spec) = child(object, "spec") else { return };
    default(spec, "failurePolicy", "Fail");
    if let Some(matching) = child(spec, "matchConstraints") {
        set_matching_defaults(matching);
    }
}

fn set_binding_defaults(object: &mut Object) {
    let matching = child(object, "spec").and_then(|spec| child(spec, "matchResources"));
    if let Some(matching) = matching {
        set_matching_defaults(matching);
    }
}

/// Sets the defaults of what a policy or a webhook is about.
fn set_matching_defaults(matching: &mut Object) {
    default(matching, "matchPolicy", "Equivalent");
    default(matching, "namespaceSelector", json!({}));
    default(matching, "objectSelector", json!({}));
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in each(matching, rules) {
            default(rule, "scope", "*");
        }
    }
}

fn webhook_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let webhooks = cell::list(object, "webhooks").len();
    vec![json!(cell::name(object)), json!(webhooks), json!(cell::age(object, now))]
}

fn validating_policy_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    policy_cells(object, "spec.validations", now)
}

fn mutating_policy_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    policy_cells(object, "spec.mutations", now)
}

fn policy_cells(object: &Value, rules: &str, now: Timestamp) -> Vec<Value> {
    let kind = match cell::at(object, "spec.paramKind") {
        Value::Null => "<unset>".to_owned(),
        kind => format!("{}/{}", cell::text(kind, "apiVersion"), cell::text(kind, "kind")),
    };
    let count = cell::list(object, rules).len();
    vec![json!(cell::name(object)), json!(count), json!(kind), json!(cell::age(object, now))]
}

fn binding_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let reference = match cell::at(object, "spec.paramRef") {
        Value::Null => "<unset>".to_owned(),
        found => match (cell::text(found, "namespace"), cell::text(found, "name")) {
            (_, "") => "*".to_owned(),
            ("", name) => name.to_owned(),
            (namespace, name) => format!("{namespace}/{name}"),
        },
    };
    vec![
        json!(cell::name(object)),
        json!(cell::text(object, "spec.policyName")),
        json!(reference),
        json!(cell::age(object, now)),
    ]
}
