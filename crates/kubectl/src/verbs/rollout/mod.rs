//! `rollout`: the subcommands about rollouts (K6).

mod history;
mod pause;
mod restart;
mod revisions;
mod status;
mod template_diff;
mod undo;

pub use history::{HistoryOptions, history};
pub use pause::{PauseOrResume, pause_or_resume};
pub use restart::restart;
pub use status::{RolloutStatusOptions, status};
pub use undo::{UndoOptions, undo};

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::selection::{BareType, FoundObject, Selection, find};

/// As `targets`; prints a note if there are none.
async fn targets_or_note(
    ctx: &mut ClientContext,
    selection: &Selection,
) -> Result<(Vec<FoundObject>, Vec<Failure>), Failure> {
    let (found, failures) = targets(ctx, selection).await?;
    if found.is_empty() && failures.is_empty() {
        ctx.print_no_resources_found(false);
    }
    Ok((found, failures))
}

/// Finds the objects; a type without names selects all of the namespace.
async fn targets(
    ctx: &mut ClientContext,
    selection: &Selection,
) -> Result<(Vec<FoundObject>, Vec<Failure>), Failure> {
    if selection.is_empty() {
        return Err(Failure::other("required resource not specified"));
    }
    find(ctx, selection, BareType::All).await
}

/// An object of a kind that has no rollouts. kubectl knows the kinds of workloads, and has another message for the rest.
fn not_a_rollout(one: &FoundObject, implemented: &str, retrieved: &str) -> Failure {
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
