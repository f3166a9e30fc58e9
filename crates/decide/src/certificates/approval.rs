//! Which requests are approved automatically: those of nodes for their own client certificates, if the requestor has
//! the permission.

use super::{APPROVED, AlternativeName, CertificateSubject, DENIED, NODE_CLIENT_SIGNER, SigningRequest};

/// A rule by which a request is approved if the requestor has a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalRule {
    /// The subresource of `certificatesigningrequests` that the requestor must be allowed to create.
    pub subresource: &'static str,
    /// The message of the approval.
    pub message: &'static str,
}

/// A node requests another client certificate for itself.
const SELF: ApprovalRule = ApprovalRule {
    subresource: "selfnodeclient",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
/// A node that joins the cluster requests a client certificate.
const JOINING: ApprovalRule = ApprovalRule {
    subresource: "nodeclient",
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

/// The rules that apply to a request, in the order in which they are tried; none if it is decided or not of a node.
pub fn approval_rules(request: &SigningRequest) -> Vec<ApprovalRule> {
    let is_decided = request.certificate.is_some() || request.has(APPROVED) || request.has(DENIED);
    let Some(subject) = request.subject.as_ref().filter(|_| !is_decided) else { return Vec::new() };
    if request.signer != NODE_CLIENT_SIGNER || check_node_client(request, subject).is_err() {
        return Vec::new();
    }
    let is_own = request.requestor == subject.common_name;
    if is_own { vec![SELF, JOINING] } else { vec![JOINING] }
}

/// Checks that a request is one of a node for its client certificate.
pub(super) fn check_node_client(
    request: &SigningRequest,
    subject: &CertificateSubject,
) -> Result<(), String> {
    check_organization(subject)?;
    allow_alternative_names(subject, &[])?;
    check_common_name(subject)?;
    check_usages(request, "client auth")
}

/// Checks that a request is one of a node for its serving certificate.
pub(super) fn check_node_serving(
    request: &SigningRequest,
    subject: &CertificateSubject,
) -> Result<(), String> {
    check_organization(subject)?;
    let of_hosts = [AlternativeName::Dns, AlternativeName::Ip];
    if !of_hosts.iter().any(|kind| subject.alternative_names.contains(kind)) {
        return Err("DNS or IP subjectAltName is required".to_owned());
    }
    allow_alternative_names(subject, &of_hosts)?;
    check_usages(request, "server auth")?;
    check_common_name(subject)
}

/// Checks that there are no alternative names but those of these kinds.
fn allow_alternative_names(subject: &CertificateSubject, allowed: &[AlternativeName]) -> Result<(), String> {
    match subject.alternative_names.iter().find(|kind| !allowed.contains(kind)) {
        Some(kind) => Err(format!("{} subjectAltNames are not allowed", kind.label())),
        None => Ok(()),
    }
}

fn check_organization(subject: &CertificateSubject) -> Result<(), String> {
    let is_node = subject.organizations == ["system:nodes"];
    if is_node { Ok(()) } else { Err("subject organization is not system:nodes".to_owned()) }
}

fn check_common_name(subject: &CertificateSubject) -> Result<(), String> {
    let is_node = subject.common_name.starts_with("system:node:");
    if is_node { Ok(()) } else { Err("subject common name does not begin with system:node:".to_owned()) }
}

/// Checks that the usages are this one and those of a signing key; keys other than RSA do not encipher.
fn check_usages(request: &SigningRequest, usage: &str) -> Result<(), String> {
    let with_rsa = ["digital signature", "key encipherment", usage];
    let without = ["digital signature", usage];
    let are = |wanted: &[&str]| {
        request.usages.len() == wanted.len() && wanted.iter().all(|usage| request.usages.contains(*usage))
    };
    if are(&with_rsa) || are(&without) {
        return Ok(());
    }
    let mut sorted = with_rsa;
    sorted.sort_unstable();
    Err(format!("usages did not match [{}]", sorted.join(" ")))
}
