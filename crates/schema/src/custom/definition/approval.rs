//! The approval of definitions in groups that Kubernetes protects.

use gantry_json::Value;

/// The annotation with the approval.
pub const ANNOTATION: &str = "api-approved.kubernetes.io";

/// The meaning of the annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Approved: it is a link.
    Approved,
    /// Not approved, and declared so: it starts with `unapproved`.
    Bypassed,
    /// Neither.
    Invalid,
    /// Missing.
    Missing,
}

/// Whether a group is protected.
pub fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')))
}

/// The approval and its reason.
pub fn of(definition: &Value) -> (Approval, String) {
    let annotation = definition["metadata"]["annotations"][ANNOTATION].as_str().unwrap_or_default();
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    if annotation.is_empty() {
        let why = format!("protected groups must have approval annotation \"{ANNOTATION}\", {see}");
        (Approval::Missing, why)
    } else if annotation.starts_with("unapproved") {
        (Approval::Bypassed, format!("not approved: {annotation:?}"))
    } else if is_url(annotation) {
        (Approval::Approved, format!("approved in {annotation}"))
    } else {
        let why = format!(
            "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting \
             with \"unapproved\", {see}"
        );
        (Approval::Invalid, why)
    }
}

/// Whether it is a URL with a host.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !host.is_empty()
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}
