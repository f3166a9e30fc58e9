//! Validates names of resources.

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path};
use super::names::qualified_name;
use gantry_formats::quantity::Quantity;

const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Resources with integer quantities.
const COUNTS: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const NOT_AN_INTEGER: &str = "must be an integer";

/// Reports a name that is neither known nor qualified by a domain.
pub(crate) fn known(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    let wrong = qualified_name(name);
    let is_form_right = wrong.is_empty();
    errors.invalid_text(at, name, wrong);
    if is_form_right && !name.contains('/') && name != "storage" && !is_for_quota(name) {
        errors.invalid(at, &json!(name), "must be a standard resource type or fully qualified");
    }
}

/// Reports a name that a container cannot use in its requests and limits.
pub(crate) fn for_container(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    known(errors, at, name);
    if !name.contains('/') {
        if !COMPUTE.contains(&name) && !is_huge_pages(name) {
            errors.invalid(at, &json!(name), "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.invalid(at, &json!(name), "doesn't follow extended resource name standard");
    }
}

/// Reports a name that a quota cannot limit.
pub(crate) fn for_quota(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    known(errors, at, name);
    if !name.contains('/') && !is_for_quota(name) {
        errors.invalid(at, &json!(name), "must be a standard resource for quota");
    }
}

/// Reports a quantity that is negative, or a fraction of a resource with integer quantities.
pub(crate) fn amount(errors: &mut ErrorList, at: &Path<'_>, name: &str, amount: &Value) {
    let Some(quantity) = parse(amount) else { return };
    if quantity.billionths() < 0 {
        errors.invalid(at, amount, "must be greater than or equal to 0");
    }
    if (COUNTS.contains(&name) || is_extended(name)) && is_fraction(quantity) {
        errors.invalid(at, amount, NOT_AN_INTEGER);
    }
}

/// Whether a quota can limit the native resource of this name.
pub(crate) fn is_for_quota(name: &str) -> bool {
    let compute = name.strip_prefix("requests.").or(name.strip_prefix("limits.")).unwrap_or(name);
    COUNTS.contains(&name)
        || COMPUTE.contains(&compute)
        || name == "requests.storage"
        || is_huge_pages(name.strip_prefix("requests.").unwrap_or(name))
}

/// Whether the resource is a native one.
pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether the resource can be overcommitted.
pub(crate) fn can_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

/// Whether the quantity is not an integer.
pub(crate) fn is_fraction(quantity: Quantity) -> bool {
    quantity.in_thousandths().billionths() % 1_000_000_000 != 0
}

/// Parses the quantity in a field.
pub(crate) fn parse(amount: &Value) -> Option<Quantity> {
    amount.as_str().and_then(|text| Quantity::parse(text).ok())
}

pub(crate) fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Whether it is an extended resource, which a quota can limit with the prefix `requests.`.
fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && qualified_name(&format!("requests.{name}")).is_empty()
}
