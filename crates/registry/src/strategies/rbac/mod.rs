//! Roles, ClusterRoles and their bindings.

mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::defaults::setting;
use crate::defaults::setting::{Object, child, default_text, each};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Role").computed(|object, _| {
        json!(format!("{}/{}", cell::text(object, "roleRef.kind"), cell::text(object, "roleRef.name")))
    }),
    column::AGE,
    column::wide("Users").computed(|object, _| json!(subjects(object, "User"))),
    column::wide("Groups").computed(|object, _| json!(subjects(object, "Group"))),
    column::wide("ServiceAccounts").computed(|object, _| json!(subjects(object, "ServiceAccount"))),
];
const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) const ROLE: KindStrategy = KindStrategy {
    validate: |errors, kind, _, new| validation::role(errors, kind.scope, new),
    ..KindStrategy::DEFAULT
};

pub(super) const BINDING: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, kind, old, new| match old {
        None => validation::binding(errors, kind.scope, new),
        Some(old) => validation::changed_binding(errors, kind.scope, old, new),
    },
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Returns the names of the subjects of a kind.
fn subjects(binding: &Value, kind: &str) -> String {
    let chosen = cell::list(binding, "subjects").iter().filter(|subject| subject["kind"] == kind);
    let names = chosen.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", cell::text(subject, "namespace"), cell::name_of(subject)),
        _ => cell::name_of(subject).to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Sets the default API group of role, users and groups.
fn set_defaults(binding: &mut Object) {
    if let Some(role) = child(binding, "roleRef") {
        default_text(role, "apiGroup", RBAC);
    }
    for subject in each(binding, "subjects") {
        if matches!(setting::text(subject, "kind"), "User" | "Group") {
            default_text(subject, "apiGroup", RBAC);
        }
    }
}
