//! Roles, ClusterRoles and their bindings.

mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::defaults::setting;
use crate::defaults::setting::{Object, child, default_text, each};
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[
    column::NAME,
    column::text("Role"),
    column::AGE,
    column::wide("Users"),
    column::wide("Groups"),
    column::wide("ServiceAccounts"),
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
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let subjects = |kind: &str| {
        let chosen = cell::list(object, "subjects").iter().filter(|subject| subject["kind"] == kind);
        let names = chosen.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", cell::text(subject, "namespace"), cell::name_of(subject)),
            _ => cell::name_of(subject).to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    vec![
        json!(cell::name(object)),
        json!(format!("{}/{}", cell::text(object, "roleRef.kind"), cell::text(object, "roleRef.name"))),
        json!(cell::age(object, now)),
        json!(subjects("User")),
        json!(subjects("Group")),
        json!(subjects("ServiceAccount")),
    ]
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
