//! Requests for certificates (PKCS #10): created, read, verified and signed.
//!
//! [`RequestedCertificate`] is the content of a request, [`RequestSigner`] is an authority that signs it, and
//! [`NewRequest`] is the key and the request of a client. [`public_key_pin`] and [`lifetime`] read certificates;
//! [`token_signature`] is the signature by which bootstrap tokens authenticate an authority.
//!
//! *Invariant:* no Kubernetes object. Which requests are approved and what a signer accepts is decided elsewhere.

mod certificate;
mod der;
mod new_request;
mod pem;
mod request;
mod signer;
mod token_signature;
mod usages;

#[cfg(test)]
mod tests;

pub use certificate::{Lifetime, check_certificates, lifetime, public_key_pin, trust_anchor_problems};
pub use new_request::NewRequest;
pub use request::RequestedCertificate;
pub use signer::{RequestSigner, SigningTerms};
pub use token_signature::{is_signed_by, token_signature};

/// Seconds since 1970.
pub type Seconds = i64;
