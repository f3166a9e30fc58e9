//! Validates the cluster IPs and IP families of a Service.
//!
//! They are validated first, and their errors are reported alone.

use std::collections::BTreeSet;
use std::net::IpAddr;

use gantry_json::{Value, json};

use super::validation::is_headless;
use crate::validation::addresses::{self, are_of_different_families};
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const MOST_ADDRESSES: usize = 2;

/// Validates the addresses and families of a Service.
pub(crate) fn service_addresses(errors: &mut ErrorList, service: &Value) {
    let (at, spec) = (Path::new("spec"), &service["spec"]);
    if text(spec, "type") == "ExternalName" {
        return;
    }
    for check in [well_formed, consistent, available] {
        check(errors, &at, spec);
        if !errors.all.is_empty() {
            break;
        }
    }
}

/// Validates each value, and that addresses match families.
fn well_formed(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (first, all) = (text(spec, "clusterIP"), list(spec, "clusterIPs"));
    let addresses_at = at.child("clusterIPs");
    match all.first().and_then(Value::as_str) {
        None if !first.is_empty() => errors.required(&addresses_at, ""),
        Some(_) if first.is_empty() => {
            errors.invalid(
                &addresses_at,
                &spec["clusterIPs"],
                "must be empty when `clusterIP` is not specified",
            );
        }
        Some(other) if other != first => {
            errors.invalid(&addresses_at, &spec["clusterIPs"], "first value must match `clusterIP`");
        }
        _ => {}
    }
    families(errors, at, spec);
    let mut is_skewed = false;
    for (index, address) in all.iter().enumerate() {
        let address = address.as_str().unwrap_or("");
        if index == 0 && address == "None" {
            if all.len() > 1 {
                is_skewed = true;
                let why = "'None' must be the first and only value";
                errors.invalid(&addresses_at, &spec["clusterIPs"], why);
            }
            continue;
        }
        let before = errors.all.len();
        addresses::ip(errors, &addresses_at.index(index), address);
        is_skewed |= errors.all.len() > before;
    }
    if all.len() > MOST_ADDRESSES {
        errors.invalid(&addresses_at, &spec["clusterIPs"], "may only hold up to 2 values");
    }
    if is_skewed {
        return;
    }
    if !are_of_different_families(all.iter().filter_map(Value::as_str)) {
        let why = "may specify no more than one IP for each IP family";
        errors.invalid(&addresses_at, &spec["clusterIPs"], why);
    }
    if errors.all.is_empty() && !is_headless(spec) {
        fitting(errors, &addresses_at, all, list(spec, "ipFamilies"));
    }
}

fn families(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let mut seen = BTreeSet::new();
    for (index, family) in list(spec, "ipFamilies").iter().enumerate() {
        let (at, word) = (at.child("ipFamilies"), family.as_str().unwrap_or(""));
        if !FAMILIES.contains(&word) {
            errors.unsupported(&at.index(index), &json!(word), &FAMILIES);
        }
        if !seen.insert(word) {
            errors.duplicate(&at.index(index), &json!(word));
        }
    }
    let policy = text(spec, "ipFamilyPolicy");
    if is_set(spec, "ipFamilyPolicy") && !FAMILY_POLICIES.contains(&policy) {
        errors.unsupported(&at.child("ipFamilyPolicy"), &json!(policy), &FAMILY_POLICIES);
    }
}

/// Validates that each address is of the family at its index.
fn fitting(errors: &mut ErrorList, at: &Path<'_>, all: &[Value], families: &[Value]) {
    for (index, (address, family)) in all.iter().zip(families).enumerate() {
        let word = address.as_str().unwrap_or("");
        if addresses::parse_ip(word).is_some_and(|address| family != family_of(address)) {
            let family = family.as_str().unwrap_or("");
            let why = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.invalid(&at.index(index), address, why);
        }
    }
}

/// Validates families and addresses against the policy.
fn consistent(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (families, addresses) = (list(spec, "ipFamilies"), list(spec, "clusterIPs"));
    if text(spec, "ipFamilyPolicy") == "SingleStack" {
        for (count, what) in [(families.len(), "IP families"), (addresses.len(), "cluster IPs")] {
            if count > 1 {
                let why = format!(
                    "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                );
                errors.invalid(&at.child("ipFamilyPolicy"), &spec["ipFamilyPolicy"], why);
            }
        }
    }
    for (index, address) in addresses.iter().enumerate().skip(families.len()) {
        let address = address.as_str().and_then(addresses::parse_ip);
        if address.is_some_and(|address| address.is_ipv6()) {
            let why = "IPv6 is not configured on this cluster";
            errors.invalid(&at.child("clusterIPs").index(index), &spec["clusterIPs"], why);
        }
    }
}

/// Validates that the families are served: this server has IPv4.
fn available(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    // A headless service without a selector may have endpoints of any family.
    if is_headless(spec) && members(spec, "selector").next().is_none() {
        return;
    }
    if text(spec, "ipFamilyPolicy") == "RequireDualStack" {
        let why = "this cluster is not configured for dual-stack services";
        errors.invalid(&at.child("ipFamilyPolicy"), &spec["ipFamilyPolicy"], why);
    }
    for (index, family) in list(spec, "ipFamilies").iter().enumerate() {
        if *family != "IPv4" {
            errors.invalid(&at.child("ipFamilies").index(index), family, "not configured on this cluster");
        }
    }
}

fn family_of(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}
