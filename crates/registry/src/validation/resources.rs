//! Validates requests and limits.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, list, members, text};
use super::names::label;
use super::resource_names::{self, can_overcommit, is_huge_pages, is_native};
use gantry_formats::quantity::Quantity;

/// Validates the name of a resource at this path.
pub(crate) type NameRule = fn(&mut ErrorList, &Path<'_>, &str);

/// Validates the resources of a container.
pub(crate) fn requirements(errors: &mut ErrorList, at: &Path<'_>, resources: &Value) {
    amounts(errors, at, resources, resource_names::for_container);
    let is_named = |wanted: fn(&str) -> bool| {
        ["limits", "requests"].iter().any(|list| members(resources, list).any(|(name, _)| wanted(name)))
    };
    if is_named(is_huge_pages) && !is_named(|name| matches!(name, "cpu" | "memory")) {
        errors.forbidden(at, "HugePages require cpu or memory");
    }
}

/// Validates limits, and requests against them.
pub(crate) fn amounts(errors: &mut ErrorList, at: &Path<'_>, resources: &Value, name_rule: NameRule) {
    let (limits_at, requests_at) = (at.child("limits"), at.child("requests"));
    for (name, amount) in errors.members(&limits_at, resources, "limits") {
        let at = limits_at.key(name);
        name_rule(errors, &at, name);
        quantity(errors, &at, name, amount);
        huge_pages(errors, &at, name, amount);
    }
    for (name, amount) in errors.members(&requests_at, resources, "requests") {
        let at = requests_at.key(name);
        name_rule(errors, &at, name);
        quantity(errors, &at, name, amount);
        within_limit(errors, (&requests_at, &limits_at), name, (amount, &resources["limits"][name.as_str()]));
        huge_pages(errors, &at, name, amount);
    }
}

fn within_limit(
    errors: &mut ErrorList,
    (requests_at, limits_at): (&Path<'_>, &Path<'_>),
    name: &str,
    (amount, limit): (&Value, &Value),
) {
    if limit.is_null() {
        if !can_overcommit(name) {
            errors.required(limits_at, "Limit must be set for non overcommitable resources");
        }
        return;
    }
    let shown = limit.as_str().unwrap_or("");
    match compare(amount, limit) {
        Some(Ordering::Less | Ordering::Greater) if !can_overcommit(name) => {
            errors.invalid(requests_at, amount, format!("must be equal to {name} limit of {shown}"));
        }
        Some(Ordering::Greater) => {
            errors.invalid(
                requests_at,
                amount,
                format!("must be less than or equal to {name} limit of {shown}"),
            );
        }
        _ => {}
    }
}

/// Validates that huge pages are multiples of their size.
fn huge_pages(errors: &mut ErrorList, at: &Path<'_>, name: &str, amount: &Value) {
    let Some(size) = name.strip_prefix("hugepages-") else { return };
    let page = billionths(size).filter(|page| *page > 0);
    let is_whole = match (page, amount.as_str().and_then(billionths)) {
        (Some(page), Some(amount)) => amount % page == 0,
        _ => false,
    };
    if !is_whole {
        let shown = amount.as_str().unwrap_or("");
        errors.invalid(at, amount, format!("{shown} is not positive integer multiple of {name}"));
    }
}

/// Validates references to resource claims of the pod.
pub(crate) fn claims(errors: &mut ErrorList, at: &Path<'_>, container: &Value, spec: &Value) {
    let made: BTreeSet<_> = list(spec, "resourceClaims").iter().map(|claim| text(claim, "name")).collect();
    let names: Vec<_> = made.iter().copied().filter(|name| !name.is_empty()).collect();
    let which = match names.join(", ") {
        none if none.is_empty() => " which is empty".to_owned(),
        names => format!(": {names}"),
    };
    let mut seen = BTreeSet::new();
    for (index, claim) in list(&container["resources"], "claims").iter().enumerate() {
        let (at, name) = (at.index(index), text(claim, "name"));
        if name.is_empty() {
            errors.required(&at, "");
            continue;
        }
        let request = text(claim, "request");
        if !request.is_empty() && !seen.contains(name) {
            errors.invalid_text(&at.child("request"), request, label(request));
        }
        let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
        if seen.contains(name) || seen.contains(&key) {
            errors.duplicate(&at, &json!(if seen.contains(name) { name } else { &key }));
        }
        seen.insert(key);
        if !made.contains(name) {
            let why = || format!("must be one of the names in pod.spec.resourceClaims{which}");
            errors.not_found_because(&at, &json!(name), why);
        }
    }
}

/// Warns about fractional numbers of bytes.
pub(crate) fn fractions(warnings: &mut Vec<String>, at: &Path<'_>, resources: &Value) {
    for name in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            let amount = resources[list][name].as_str().unwrap_or("");
            if billionths(amount).is_some_and(|amount| amount % BILLION != 0) {
                let at = at.child(list);
                warnings.push(format!(
                    "{}: fractional byte value {amount:?} is invalid, must be an integer",
                    at.key(name)
                ));
            }
        }
    }
}

const BILLION: i128 = 1_000_000_000;

fn quantity(errors: &mut ErrorList, at: &Path<'_>, name: &str, amount: &Value) {
    let Some(value) = amount.as_str().and_then(billionths) else { return };
    if value < 0 {
        errors.invalid(at, amount, "must be greater than or equal to 0");
    }
    if name.contains('/') && !is_native(name) && value % BILLION != 0 {
        errors.invalid(at, amount, "must be an integer");
    }
}

/// Compares two quantities; `None` if one of them is not valid.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    Some(billionths(left.as_str()?)?.cmp(&billionths(right.as_str()?)?))
}

/// Parses a quantity in billionths.
fn billionths(text: &str) -> Option<i128> {
    Quantity::parse(text).ok().map(Quantity::billionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_compare_across_suffixes() {
        let compare = |left: &str, right: &str| compare(&json!(left), &json!(right));
        assert_eq!(compare("1", "1000m"), Some(Ordering::Equal));
        assert_eq!(compare("1Gi", "1G"), Some(Ordering::Greater));
        assert_eq!(compare("129e6", "128M"), Some(Ordering::Greater));
        assert_eq!(compare("8E", "9E"), Some(Ordering::Less));
        assert_eq!(compare("many", "1"), None);
    }
}
