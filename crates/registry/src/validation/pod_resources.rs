//! Validates pod-level resources and resource claims.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, text};
use super::go_format::with_go_names;
use super::names::{label, subdomain};
use super::resource_names::{self, is_huge_pages};
use super::resources;

/// Validates resource claims: unique names, each with one claim or template.
pub(crate) fn claims(errors: &mut ErrorList, at: &Path<'_>, claims: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let (at, name) = (at.index(index), text(claim, "name"));
        if name.is_empty() {
            errors.required(&at.child("name"), "");
        } else if !names.insert(name) {
            errors.duplicate(&at.child("name"), &json!(name));
        } else {
            errors.invalid_text(&at.child("name"), name, label(name));
        }
        let why = match (is_set(claim, "resourceClaimName"), is_set(claim, "resourceClaimTemplateName")) {
            (true, true) => {
                Some("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
            }
            (false, false) => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            _ => None,
        };
        if let Some(why) = why {
            errors.invalid_formatted(&at, with_go_names("core/v1.PodResourceClaim", claim), why);
        }
        for field in ["resourceClaimName", "resourceClaimTemplateName"] {
            if let Some(name) = claim[field].as_str() {
                errors.invalid_text(&at.child(field), name, subdomain(name));
            }
        }
    }
}

/// Validates the resources that the containers of a pod share.
pub(crate) fn resources(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let shared = &spec["resources"];
    if shared.is_null() {
        return;
    }
    if text(&spec["os"], "name") == "windows" {
        return errors.forbidden(at, "may not be set for a windows pod");
    }
    if is_set(shared, "claims") {
        errors.forbidden(&at.child("claims"), "claims may not be set for Resources at pod-level");
    }
    resources::amounts(errors, at, shared, shared_resource);
    resources::claims(errors, &at.child("claims"), &json!({"resources": shared}), spec);
}

fn shared_resource(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    let before = errors.all.len();
    resource_names::known(errors, at, name);
    if errors.all.len() == before && !matches!(name, "cpu" | "memory") && !is_huge_pages(name) {
        errors.unsupported(at, &json!(name), &["cpu", "hugepages-", "memory"]);
    }
}
