//! The strategies of CertificateSigningRequests, ClusterTrustBundles and PodCertificateRequests.
//!
//! Validation that needs a parser of certificates is in the API server, which has one.

pub(crate) mod pod_request;
mod signer_name;
pub mod signing_request;
pub(crate) mod trust_bundle;

pub(crate) use signer_name::validate as validate_signer_name;
