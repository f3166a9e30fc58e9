//! The strategy of IngressClasses.

use gantry_json::{Value, json};
use gantry_primitives::names::{label, path_segment, subdomain};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::setting::{Object, default};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, is_set, text};
use crate::validation::paths::domain_prefixed_path;

const CONTROLLER_MAX_BYTES: usize = 250;
const SCOPES: [&str; 2] = ["Cluster", "Namespace"];
const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Controller").text_at("spec.controller"),
    column::text("Parameters").computed(parameters_cell),
    column::AGE,
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| {
        let at = Path::new("spec");
        if let Some(old) = old {
            let (old, new) = (&old["spec"]["controller"], &new["spec"]["controller"]);
            errors.immutable(&at.child("controller"), old == new, new);
        }
        validate_spec(errors, &at, &new["spec"]);
    },
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn set_defaults(class: &mut Object) {
    if let Some(parameters) = class
        .get_mut("spec")
        .and_then(|spec| spec.get_mut("parameters"))
        .and_then(|parameters| parameters.as_object_mut())
    {
        default(parameters, "scope", "Cluster");
    }
}

fn validate_spec(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (controller, at_controller) = (text(spec, "controller"), at.child("controller"));
    if controller.len() > CONTROLLER_MAX_BYTES {
        errors.too_long(&at_controller, CONTROLLER_MAX_BYTES);
    }
    if controller.is_empty() {
        errors.required(&at_controller, "");
    } else {
        domain_prefixed_path(errors, &at_controller, controller);
    }
    if is_set(spec, "parameters") {
        validate_parameters(errors, &at.child("parameters"), &spec["parameters"]);
    }
}

/// Validates the reference to the parameters of the controller.
fn validate_parameters(errors: &mut ErrorList, at: &Path<'_>, parameters: &Value) {
    if let Some(group) = parameters["apiGroup"].as_str() {
        errors.invalid_text(&at.child("apiGroup"), group, subdomain(group));
    }
    let scope = text(parameters, "scope");
    let namespace = parameters["namespace"].as_str();
    let at_namespace = at.child("namespace");
    if scope == "Namespace" && namespace.is_none_or(str::is_empty) {
        errors.required(&at_namespace, "`parameters.scope` is set to 'Namespace'");
    }
    for field in ["kind", "name"] {
        let value = text(parameters, field);
        errors.required_text(&at.child(field), value, path_segment);
    }
    errors.one_of(&at.child("scope"), &parameters["scope"], &SCOPES);
    match namespace {
        Some(_) if scope == "Cluster" => {
            errors.forbidden(&at_namespace, "`parameters.scope` is set to 'Cluster'");
        }
        Some(namespace) if scope == "Namespace" && !namespace.is_empty() => {
            errors.invalid_text(&at_namespace, namespace, label(namespace));
        }
        _ => {}
    }
}

fn parameters_cell(object: &Value, _: Timestamp) -> Value {
    let parameters = cell::at(object, "spec.parameters");
    let shown = if parameters.is_null() {
        "<none>".to_owned()
    } else {
        let group = text(parameters, "apiGroup");
        let group = if group.is_empty() { String::new() } else { format!(".{group}") };
        format!("{}{group}/{}", text(parameters, "kind"), text(parameters, "name"))
    };
    json!(shown)
}
