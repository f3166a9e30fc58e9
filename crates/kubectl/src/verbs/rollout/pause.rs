//! `rollout pause` and `rollout resume` (K6.3).

use gantry_client::{ApiRequest, PatchForm};
use gantry_json::{Value, json};

use super::targets_or_note;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::selection::{FoundObject, Selection};
use crate::verbs::result_printer::ResultPrinter;
use crate::verbs::result_printer::WriteParameters as _;

/// Pause or resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseOrResume {
    /// Sets `spec.paused`.
    Pause,
    /// Clears `spec.paused`.
    Resume,
}

/// Pauses or resumes rollouts.
pub async fn pause_or_resume(
    ctx: &mut ClientContext,
    selection: &Selection,
    what: PauseOrResume,
    printer: &ResultPrinter,
) -> Result<(), Failure> {
    let (found, mut failures) = targets_or_note(ctx, selection).await?;
    for one in &found {
        failures.extend(change(ctx, one, what, printer).await.err());
    }
    Failure::all(failures)
}

async fn change(
    ctx: &mut ClientContext,
    one: &FoundObject,
    what: PauseOrResume,
    printer: &ResultPrinter,
) -> Result<(), Failure> {
    let (doing, done) = match what {
        PauseOrResume::Pause => ("pausing", "paused"),
        PauseOrResume::Resume => ("resuming", "resumed"),
    };
    if one.resource.kind != "Deployment" {
        return Err(Failure::other(format!("error: {} {doing} is not supported", one.plural_title())));
    }
    let paused = one.object["spec"]["paused"] == true;
    let value = match (what, paused) {
        (PauseOrResume::Pause, true) => {
            return Err(Failure::other(format!("error: {} is already paused", one.plural_title())));
        }
        (PauseOrResume::Resume, false) => {
            return Err(Failure::other(format!("error: {} is not paused", one.plural_title())));
        }
        (PauseOrResume::Pause, false) => json!(true),
        (PauseOrResume::Resume, true) => Value::Null,
    };
    let patch = json!({"spec": {"paused": value}});
    let call = ApiRequest::patch(one.path(), PatchForm::StrategicMerge, &patch)
        .by("kubectl-rollout", printer.dry_run);
    let object = ctx.request(call).await?;
    printer.print(ctx, &one.title(), done, &object)
}
