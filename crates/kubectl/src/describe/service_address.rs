//! The addresses of Services: ServiceCIDRs and IPAddresses.

use gantry_json::Value;

use super::{condition_rows, name_labels_annotations};
use crate::field::{list, shown, text};

/// A ServiceCIDR.
pub(crate) fn service_cidr(object: &Value) -> String {
    let ranges: Vec<String> = list(object, "/spec/cidrs").iter().map(shown).collect();
    let mut out = name_labels_annotations(object) + &format!("CIDRs:\t{}\n", ranges.join(", "));
    let conditions = list(object, "/status/conditions");
    if !conditions.is_empty() {
        out += &format!("Status:\nConditions:\n{}", condition_rows(conditions));
    }
    out
}

/// An IPAddress.
pub(crate) fn ip_address(object: &Value) -> String {
    let mut out = name_labels_annotations(object);
    let Some(parent) = object.pointer("/spec/parentRef") else { return out };
    out += "Parent Reference:\n";
    for (title, field) in
        [("Group", "/group"), ("Resource", "/resource"), ("Namespace", "/namespace"), ("Name", "/name")]
    {
        out += &format!("  {title}:\t{}\n", text(parent, field));
    }
    out
}
