//! CertificateSigningRequests: which are approved automatically, signed and for how long, and which are deleted.
//!
//! The shell parses the requests, checks through the API whether the requestor has a permission, and signs.

mod approval;
mod cleaning;
mod signing;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use gantry_model::Timestamp;

pub use approval::{ApprovalRule, approval_rules};
pub use cleaning::{Cleaning, cleaning};
pub use signing::{Signing, signing};

/// The signer of clients of the API server.
pub const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
/// The signer of nodes as clients of the API server.
pub const NODE_CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// The signer of nodes as servers.
pub const NODE_SERVING_SIGNER: &str = "kubernetes.io/kubelet-serving";
/// The signer without rules, which only older versions of the API accept.
pub const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";

/// The condition of an approved request.
pub const APPROVED: &str = "Approved";
/// The condition of a denied request.
pub const DENIED: &str = "Denied";
/// The condition of a request that its signer refused.
pub const FAILED: &str = "Failed";

/// A CertificateSigningRequest as it was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningRequest {
    /// `spec.signerName`.
    pub signer: String,
    /// The user who made the request.
    pub requestor: String,
    /// `spec.usages`.
    pub usages: BTreeSet<String>,
    /// The requested lifetime.
    pub lifetime: Option<Duration>,
    /// The subject of the request; `None` if it cannot be parsed.
    pub subject: Option<CertificateSubject>,
    /// The conditions.
    pub conditions: Vec<RequestCondition>,
    /// The certificate, if it was issued.
    pub certificate: Option<IssuedCertificate>,
    /// When the request was made.
    pub created: Option<Timestamp>,
}

/// The subject of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateSubject {
    /// The common name.
    pub common_name: String,
    /// The organizations.
    pub organizations: Vec<String>,
    /// The kinds of alternative names that it has.
    pub alternative_names: BTreeSet<AlternativeName>,
}

gantry_model::text_enum! {
    /// The kinds of alternative names of a subject, in the order in which they are checked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AlternativeName {
        /// The name of a host.
        Dns = "DNS",
        /// An email address.
        Email = "Email",
        /// The address of a host.
        Ip = "IP",
        /// A URI.
        Uri = "URI",
    }

    /// The kind as it is written in messages.
    fn label(self) -> &'static str;
}

/// A condition of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCondition {
    /// Its type.
    pub kind: String,
    /// Whether its status is `True`.
    pub is_true: bool,
    /// When it was last updated.
    pub updated: Option<Timestamp>,
}

/// A certificate in the status of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssuedCertificate {
    /// When it expires; `None` if it cannot be parsed.
    pub ends: Option<Timestamp>,
}

impl SigningRequest {
    fn has(&self, kind: &str) -> bool {
        self.conditions.iter().any(|condition| condition.kind == kind)
    }

    fn is(&self, kind: &str) -> bool {
        self.conditions.iter().any(|condition| condition.kind == kind && condition.is_true)
    }
}
