//! Requests and limits.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::found::{Found, Path, list, members, text};
use super::names::qualified_name;
use crate::quantity::Quantity;

const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// What a container requests and is limited to.
pub(super) fn requirements(found: &mut Found, at: &Path<'_>, resources: &Value) {
    let (limits_at, requests_at) = (at.child("limits"), at.child("requests"));
    let limits = &resources["limits"];
    for (name, amount) in members(resources, "limits") {
        resource(found, &limits_at.key(name), name, amount);
    }
    for (name, amount) in members(resources, "requests") {
        resource(found, &requests_at.key(name), name, amount);
        let limit = &limits[name.as_str()];
        if limit.is_null() {
            if !can_overcommit(name) {
                found.required(&limits_at, "Limit must be set for non overcommitable resources");
            }
            continue;
        }
        let shown = limit.as_str().unwrap_or("");
        match compare(amount, limit) {
            Some(Ordering::Less | Ordering::Greater) if !can_overcommit(name) => {
                found.invalid(&requests_at, amount, format!("must be equal to {name} limit of {shown}"));
            }
            Some(Ordering::Greater) => {
                found.invalid(
                    &requests_at,
                    amount,
                    format!("must be less than or equal to {name} limit of {shown}"),
                );
            }
            _ => {}
        }
    }
    let is_named = |wanted: fn(&str) -> bool| {
        ["limits", "requests"].iter().any(|list| members(resources, list).any(|(name, _)| wanted(name)))
    };
    if is_named(|name| name.starts_with("hugepages-")) && !is_named(|name| matches!(name, "cpu" | "memory")) {
        found.forbidden(at, "HugePages require cpu or memory");
    }
}

/// Claims on devices, which the pod must have made.
pub(super) fn claims(found: &mut Found, at: &Path<'_>, container: &Value, spec: &Value) {
    let made: BTreeSet<_> = list(spec, "resourceClaims").iter().map(|claim| text(claim, "name")).collect();
    let mut seen = BTreeSet::new();
    for (index, claim) in list(&container["resources"], "claims").iter().enumerate() {
        let (at, name) = (at.index(index), text(claim, "name"));
        if name.is_empty() {
            found.required(&at, "");
            continue;
        }
        let request = text(claim, "request");
        let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
        if seen.contains(name) || seen.contains(&key) {
            found.duplicate(&at, &json!(if seen.contains(name) { name } else { &key }));
        }
        seen.insert(key);
        if !made.contains(name) {
            let names: Vec<_> = made.iter().copied().filter(|name| !name.is_empty()).collect();
            let which = match names.join(", ") {
                none if none.is_empty() => " which is empty".to_owned(),
                names => format!(": {names}"),
            };
            let why = format!("must be one of the names in pod.spec.resourceClaims{which}");
            found.not_found_because(&at, &json!(name), &why);
        }
    }
}

/// Warnings about amounts of bytes that are no whole number.
pub(super) fn fractions(warnings: &mut Vec<String>, at: &Path<'_>, resources: &Value) {
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

fn resource(found: &mut Found, at: &Path<'_>, name: &str, amount: &Value) {
    found.invalid_text(at, name, qualified_name(name));
    let standard = STANDARD.contains(&name) || name.starts_with("hugepages-");
    if !name.contains('/') && !standard {
        found.invalid(at, &json!(name), "must be a standard resource type or fully qualified");
        found.invalid(at, &json!(name), "must be a standard resource for containers");
    }
    let Some(value) = amount.as_str().and_then(billionths) else { return };
    if value < 0 {
        found.invalid(at, amount, "must be greater than or equal to 0");
    }
    if name.contains('/') && value % BILLION != 0 {
        found.invalid(at, amount, "must be an integer");
    }
}

/// What belongs to nobody in particular may be promised more than once.
fn can_overcommit(name: &str) -> bool {
    (!name.contains('/') || name.contains("kubernetes.io/")) && !name.starts_with("hugepages-")
}

fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    Some(billionths(left.as_str()?)?.cmp(&billionths(right.as_str()?)?))
}

/// An amount in billionths.
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
