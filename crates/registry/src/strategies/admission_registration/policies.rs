//! Admission policies and their bindings, validated by their form: their expressions are not compiled.

use gantry_json::{Value, json};

use super::rules;
use crate::validation::error_list::{ErrorList, Path, is_set, list, text};
use crate::validation::names::subdomain;

const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];

pub(super) fn validate_validating(errors: &mut ErrorList, policy: &Value) {
    let (at, spec) = (Path::new("spec"), &policy["spec"]);
    validate_common(errors, &at, spec, true);
    let (validations, annotations) = (list(spec, "validations"), list(spec, "auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        errors.required(&at.child("validations"), why);
        errors.required(&at.child("auditAnnotations"), why);
    }
    let at_validations = at.child("validations");
    for (index, validation) in validations.iter().enumerate() {
        if text(validation, "expression").trim().is_empty() {
            errors.required(&at_validations.index(index).child("expression"), "expression is not specified");
        }
    }
    let at_annotations = at.child("auditAnnotations");
    for (index, annotation) in annotations.iter().enumerate() {
        let at = at_annotations.index(index);
        required_text(errors, &at, annotation, "key");
        required_text(errors, &at, annotation, "valueExpression");
    }
}

pub(super) fn validate_mutating(errors: &mut ErrorList, policy: &Value) {
    let (at, spec) = (Path::new("spec"), &policy["spec"]);
    validate_common(errors, &at, spec, false);
    let mutations = list(spec, "mutations");
    let at_mutations = at.child("mutations");
    if mutations.is_empty() {
        errors.required(&at_mutations, "mutations must contain at least one item");
    }
    for (index, mutation) in mutations.iter().enumerate() {
        let at = at_mutations.index(index);
        errors.one_of(&at.child("patchType"), &mutation["patchType"], &PATCH_TYPES);
        let field = match text(mutation, "patchType") {
            "ApplyConfiguration" => "applyConfiguration",
            "JSONPatch" => "jsonPatch",
            _ => continue,
        };
        if is_set(mutation, field) {
            required_text(errors, &at.child(field), &mutation[field], "expression");
        } else {
            let why = format!("must be specified when patchType is {}", text(mutation, "patchType"));
            errors.required(&at.child(field), &why);
        }
    }
    errors.one_of(&at.child("reinvocationPolicy"), &spec["reinvocationPolicy"], &REINVOCATION_POLICIES);
}

fn validate_common(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, with_deletions: bool) {
    errors.one_of_if_set(&at.child("failurePolicy"), &spec["failurePolicy"], &FAILURE_POLICIES);
    if is_set(spec, "paramKind") {
        let (at, kind) = (at.child("paramKind"), &spec["paramKind"]);
        required_text(errors, &at, kind, "apiVersion");
        required_text(errors, &at, kind, "kind");
    }
    let at_matching = at.child("matchConstraints");
    if is_set(spec, "matchConstraints") {
        validate_matching(errors, &at_matching, &spec["matchConstraints"], with_deletions);
        if list(&spec["matchConstraints"], "resourceRules").is_empty() {
            errors.required(&at_matching.child("resourceRules"), "");
        }
    } else {
        errors.required(&at_matching, "");
    }
    rules::validate_conditions(errors, &at.child("matchConditions"), list(spec, "matchConditions"));
}

pub(super) fn validate_binding(errors: &mut ErrorList, binding: &Value, is_validating: bool) {
    let (at, spec) = (Path::new("spec"), &binding["spec"]);
    let name = text(spec, "policyName");
    errors.required_text(&at.child("policyName"), name, subdomain);
    if is_set(spec, "paramRef") {
        validate_reference(errors, &at.child("paramRef"), &spec["paramRef"]);
    }
    if is_set(spec, "matchResources") {
        validate_matching(errors, &at.child("matchResources"), &spec["matchResources"], is_validating);
    }
    if is_validating {
        validate_actions(errors, &at.child("validationActions"), list(spec, "validationActions"));
    }
}

fn validate_actions(errors: &mut ErrorList, at: &Path<'_>, actions: &[Value]) {
    if actions.is_empty() {
        errors.required(at, "");
    }
    for (index, action) in actions.iter().enumerate() {
        if !action.as_str().is_some_and(|action| ACTIONS.contains(&action)) {
            errors.unsupported(&at.index(index), action, &ACTIONS);
        } else if actions[..index].contains(action) {
            errors.duplicate(&at.index(index), action);
        }
    }
    let has = |wanted: &str| actions.iter().any(|action| action == wanted);
    if has("Deny") && has("Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API response \
                   and headers serves no purpose)";
        errors.invalid(at, &json!(actions), why);
    }
}

fn validate_reference(errors: &mut ErrorList, at: &Path<'_>, reference: &Value) {
    let (has_name, has_selector) = (!text(reference, "name").is_empty(), is_set(reference, "selector"));
    if !has_name && !has_selector {
        errors.required(at, "one of name or selector must be specified");
    } else if has_name && has_selector {
        errors.forbidden(&at.child("name"), "name and selector are mutually exclusive");
    }
    errors.one_of(
        &at.child("parameterNotFoundAction"),
        &reference["parameterNotFoundAction"],
        &["Allow", "Deny"],
    );
}

fn validate_matching(errors: &mut ErrorList, at: &Path<'_>, matching: &Value, with_deletions: bool) {
    if !matching["matchPolicy"].is_null() {
        errors.one_of(&at.child("matchPolicy"), &matching["matchPolicy"], &MATCH_POLICIES);
    }
    rules::validate_selectors(errors, at, matching);
    for field in ["resourceRules", "excludeResourceRules"] {
        let at = at.child(field);
        for (index, rule) in list(matching, field).iter().enumerate() {
            rules::validate(errors, &at.index(index), rule, with_deletions);
        }
    }
}

fn required_text(errors: &mut ErrorList, at: &Path<'_>, object: &Value, field: &str) {
    if text(object, field).trim().is_empty() {
        errors.required(&at.child(field), "");
    }
}
