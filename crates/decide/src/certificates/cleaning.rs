//! When requests are deleted: some time after they were decided, or if they remain without a certificate for too long.

use std::time::Duration;

use gantry_model::Timestamp;

use super::{APPROVED, DENIED, FAILED, SigningRequest};

/// The decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// The request is deleted.
    Delete,
    /// The request is checked again after this time.
    CheckAfter(Duration),
    /// The request is kept until it changes.
    Keep,
}

/// How long denied, failed and issued requests are kept.
const DECIDED: Duration = Duration::from_secs(3600);
/// How long requests are kept that are neither denied nor failed and have no certificate.
const PENDING: Duration = Duration::from_secs(24 * 3600);

/// Decides about a request.
pub fn cleaning(request: &SigningRequest, now: Timestamp) -> Cleaning {
    let updated = |kind: &'static str| {
        request.conditions.iter().filter(move |found| found.kind == kind).filter_map(|found| found.updated)
    };
    let mut ends: Vec<Timestamp> = Vec::new();
    match request.certificate {
        Some(certificate) => {
            ends.extend(updated(APPROVED).map(|at| at.plus(DECIDED)));
            ends.extend(certificate.ends.filter(|_| request.has(APPROVED)));
        }
        None => ends.extend(updated(APPROVED).map(|at| at.plus(PENDING))),
    }
    ends.extend(updated(DENIED).chain(updated(FAILED)).map(|at| at.plus(DECIDED)));
    if request.conditions.is_empty() {
        ends.extend(request.created.map(|at| at.plus(PENDING)));
    }
    match ends.into_iter().min() {
        None => Cleaning::Keep,
        Some(end) if now > end => Cleaning::Delete,
        // One second later, because the end itself does not count as over.
        Some(end) => Cleaning::CheckAfter(end.since(now) + Duration::from_secs(1)),
    }
}
