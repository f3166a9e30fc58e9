//! Configurations of admission webhooks, and admission policies with their bindings.
//!
//! They are stored and not enforced: the response to a create has a warning that they have no effect.

mod policies;
mod rules;
mod webhooks;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::setting::{Object, child, default, each};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

pub(super) const VALIDATING_WEBHOOKS: KindStrategy = KindStrategy {
    defaults: |object| webhooks::set_defaults(object, false),
    validate: |errors, _, old, new| webhooks::validate(errors, old, new, false),
    warnings: |warnings, old, _| warn(warnings, old, "webhook", "this server calls no webhooks"),
    rows: Rows::new(WEBHOOK_COLUMNS),
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
    rows: Rows::new(VALIDATING_POLICY_COLUMNS),
    ..KindStrategy::DEFAULT
};

pub(super) const MUTATING_POLICY: KindStrategy = KindStrategy {
    defaults: set_policy_defaults,
    validate: |errors, _, _, new| policies::validate_mutating(errors, new),
    warnings: warn_of_policy,
    rows: Rows::new(MUTATING_POLICY_COLUMNS),
    ..KindStrategy::DEFAULT
};

pub(super) const VALIDATING_BINDING: KindStrategy = KindStrategy {
    defaults: set_binding_defaults,
    validate: |errors, _, _, new| policies::validate_binding(errors, new, true),
    warnings: warn_of_policy,
    rows: Rows::new(BINDING_COLUMNS),
    ..KindStrategy::DEFAULT
};

pub(super) const MUTATING_BINDING: KindStrategy = KindStrategy {
    validate: |errors, _, _, new| policies::validate_binding(errors, new, false),
    ..VALIDATING_BINDING
};

const WEBHOOK_COLUMNS: &[TableColumn] =
    &[column::NAME, column::number("Webhooks").count_at("webhooks"), column::AGE];
const VALIDATING_POLICY_COLUMNS: &[TableColumn] =
    &[column::NAME, column::number("Validations").count_at("spec.validations"), PARAM_KIND, column::AGE];
const MUTATING_POLICY_COLUMNS: &[TableColumn] =
    &[column::NAME, column::number("Mutations").count_at("spec.mutations"), PARAM_KIND, column::AGE];
const PARAM_KIND: TableColumn = column::text("ParamKind").computed(|object, _| {
    json!(match cell::at(object, "spec.paramKind") {
        Value::Null => "<unset>".to_owned(),
        kind => format!("{}/{}", cell::text(kind, "apiVersion"), cell::text(kind, "kind")),
    })
});
const BINDING_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("PolicyName").text_at("spec.policyName"),
    column::text("ParamRef").computed(param_ref_cell),
    column::AGE,
];

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

/// Sets the defaults of the rules and selectors of a policy or a binding.
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

fn param_ref_cell(object: &Value, _: Timestamp) -> Value {
    json!(match cell::at(object, "spec.paramRef") {
        Value::Null => "<unset>".to_owned(),
        found => match (cell::text(found, "namespace"), cell::text(found, "name")) {
            (_, "") => "*".to_owned(),
            ("", name) => name.to_owned(),
            (namespace, name) => format!("{namespace}/{name}"),
        },
    })
}
