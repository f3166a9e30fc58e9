//! `rollout`: what kubectl does to and about rollouts (K6).

mod changed;
mod history;
mod pause;
mod restart;
mod revisions;
mod status;
mod undo;

pub use history::{History, history};
pub use pause::{PauseOrResume, pause_or_resume};
pub use restart::restart;
pub use status::{Status, status};
pub use undo::{Undo, undo};

use crate::failure::Failure;
use crate::selection::{BareType, Found, Selection, find};
use crate::session::Session;

/// The objects that are meant, as `targets` finds them; says so if there are none.
async fn targets_or_note(
    session: &mut Session,
    selection: &Selection,
) -> Result<(Vec<Found>, Vec<Failure>), Failure> {
    let (found, failures) = targets(session, selection).await?;
    if found.is_empty() && failures.is_empty() {
        session.tell(&format!("No resources found in {} namespace.", session.namespace));
    }
    Ok((found, failures))
}

/// The objects that are meant; a bare type means all of the namespace.
async fn targets(
    session: &mut Session,
    selection: &Selection,
) -> Result<(Vec<Found>, Vec<Failure>), Failure> {
    if selection.is_empty() {
        return Err(Failure::other("required resource not specified"));
    }
    find(session, selection, BareType::All).await
}

/// An object of a kind that has no rollouts. kubectl knows the kinds of workloads, and has other words for the rest.
fn not_a_rollout(one: &Found, implemented: &str, retrieved: &str) -> Failure {
    let whole = one.resource.kind_with_group();
    Failure::other(match (one.resource.kind.as_str(), one.resource.group.as_str()) {
        ("ReplicaSet" | "Pod" | "Job" | "CronJob" | "ReplicationController", _) | (_, "apps") => {
            format!("no {implemented} has been implemented for \"{whole}\"")
        }
        (kind, group) => {
            format!(
                "error retrieving {retrieved} for \"{whole}\", no visitor method exists for {{{group} {kind}}}"
            )
        }
    })
}
