//! When requests are deleted: some time after they were decided, and if nothing comes of them.

use std::time::Duration;

use gantry_model::Timestamp;

use super::{APPROVED, DENIED, FAILED, SigningRequest};

/// What is done about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// It is deleted.
    Delete,
    /// It is looked at again after this time.
    CheckAfter(Duration),
    /// It stays until it changes.
    Keep,
}

/// How long decided requests stay.
const DECIDED: Duration = Duration::from_secs(3600);
/// How long requests stay of which nothing came.
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
        // A moment later: at the end itself it is not over.
        Some(end) => Cleaning::CheckAfter(end.since(now) + Duration::from_secs(1)),
    }
}
