//! Which approved requests are signed, and for how long.

use std::time::Duration;

use gantry_model::Timestamp;

use super::approval::{check_node_client, check_node_serving};
use super::{
    APPROVED, CLIENT_SIGNER, CertificateSubject, DENIED, FAILED, LEGACY_SIGNER, NODE_CLIENT_SIGNER,
    NODE_SERVING_SIGNER, SigningRequest,
};

/// The decision about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signing {
    /// Nothing: the request is not approved, or is for another signer.
    Nothing,
    /// The request fails with this message.
    Fail(String),
    /// A certificate is issued that is valid between these times.
    Sign {
        /// `notBefore`.
        begins: Timestamp,
        /// `notAfter`.
        ends: Timestamp,
    },
}

/// How long before now certificates begin, for clocks that are behind.
const BACKDATE: Duration = Duration::from_secs(5 * 60);
/// Certificates with a shorter lifetime are valid for all of it from now on, in spite of the backdating.
const SHORT: Duration = Duration::from_secs(8 * 3600);
/// The shortest lifetime.
const SHORTEST: Duration = Duration::from_secs(10 * 60);

/// Decides about a request; certificates are valid for `longest` unless the request has a shorter lifetime.
pub fn signing(request: &SigningRequest, longest: Duration, now: Timestamp) -> Signing {
    let is_approved = request.has(APPROVED) && !request.has(DENIED);
    let Some(subject) = request.subject.as_ref() else { return Signing::Nothing };
    if request.certificate.is_some() || !is_approved || request.is(FAILED) {
        return Signing::Nothing;
    }
    match check_for_signer(request, subject) {
        None => Signing::Nothing,
        Some(Err(why)) => Signing::Fail(why),
        Some(Ok(())) => {
            let life =
                request.lifetime.map_or(longest, |requested| requested.clamp(SHORTEST.min(longest), longest));
            let ends = if life < SHORT { now.plus(life) } else { now.plus(life).minus(BACKDATE) };
            Signing::Sign { begins: now.minus(BACKDATE), ends }
        }
    }
}

/// Checks a request by the rules of its signer; `None` if this controller does not sign for it.
fn check_for_signer(request: &SigningRequest, subject: &CertificateSubject) -> Option<Result<(), String>> {
    match request.signer.as_str() {
        CLIENT_SIGNER => Some(check_client(request)),
        NODE_CLIENT_SIGNER => Some(check_node_client(request, subject)),
        NODE_SERVING_SIGNER => Some(check_node_serving(request, subject)),
        LEGACY_SIGNER => Some(Ok(())),
        _ => None,
    }
}

fn check_client(request: &SigningRequest) -> Result<(), String> {
    let allowed = ["client auth", "digital signature", "key encipherment"];
    if let Some(other) = request.usages.iter().find(|usage| !allowed.contains(&usage.as_str())) {
        return Err(format!("invalid usage for client certificate: {other}"));
    }
    if request.usages.contains("client auth") {
        Ok(())
    } else {
        Err("missing required usage for client certificate: client auth".to_owned())
    }
}
