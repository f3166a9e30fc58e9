//! The decision about a Deployment.
//!
//! [`decide`] is the entry point. A decision follows the order delete > pause > rollback > scale > rollout, and each
//! of these has a file of its own:
//!
//! ```text
//! decide ── pause ── sets (find new and old, sync revision, create) ─┬─ rollback
//!                                                                    ├─ scaling ──┐
//!                                                                    ├─ rolling ──┼─ history ── status ── progress
//!                                                                    └─ recreate ─┘
//! ```
//!
//! `sync_state` is the working state they share: what was observed, plus what this decision has changed so far, so
//! that later steps build on earlier ones as if those had succeeded. The [`IfRefused`] of a step says what to do when
//! the API refuses it; if that is to decide again, the caller passes the refusal as a [`RefusedStep`].

mod conditions;
mod create;
mod decision;
mod events;
mod history;
mod limits;
mod pause;
mod progress;
mod recreate;
mod repairs;
mod revision;
mod rollback;
mod rolling;
mod scaling;
mod sets;
mod status;
mod sync_state;
pub mod triggers;
mod waiting;

pub use conditions::{is_complete, is_progressing};
pub use create::template_hash;
pub use decision::{Action, Deadline, Decision, IfRefused, RefusedStep, Step, SyncError, SyncResult};
pub use limits::{Limits, new_set_size};
pub use repairs::{Repairs, UnknownRepair};
pub use revision::{append_to_history, revision_of};
pub use waiting::WaitingOn;

use gantry_model::{Deployment, Event, Pod, ReplicaSet, Selector, Strategy, Timestamp};

use sync_state::SyncState;

/// The default number of workers.
pub const WORKERS: usize = 5;
/// The `source.component` of its events.
pub const EVENT_SOURCE: &str = "deployment-controller";

/// The input of a decision about one Deployment.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The Deployment.
    pub deployment: &'a Deployment,
    /// The ReplicaSets that [`ownership::claim`](crate::ownership::claim) found owned or that were adopted.
    pub sets: &'a [&'a ReplicaSet],
    /// The pods of these ReplicaSets. Only `Recreate` needs them.
    pub pods: &'a [&'a Pod],
    /// The step that was refused when the previous decision of this sync was carried out.
    pub refused: Option<RefusedStep>,
    /// The repairs of Kubernetes' defects that are on.
    pub repairs: Repairs,
}

/// Decides what to do about a Deployment now.
pub fn decide(now: Timestamp, observed: &Observed<'_>) -> Decision {
    let mut state = SyncState::new(now, observed);
    let result = match run(&mut state, observed) {
        Ok(()) => SyncResult::Done,
        Err(error) => SyncResult::Failed(error),
    };
    state.conclude(result)
}

fn run(state: &mut SyncState<'_>, observed: &Observed<'_>) -> Result<(), SyncError> {
    let deployment = observed.deployment;
    match &deployment.selector {
        Err(invalid) => return Err(SyncError::InvalidSelector(invalid.clone())),
        Ok(Selector::Everything) => {
            report_selecting_all(state);
            return Ok(());
        }
        Ok(Selector::All(_)) => {}
    }
    if deployment.meta.is_deleting() {
        state.find_sets();
        state.sync_status();
        return Ok(());
    }
    state.check_paused();
    if deployment.paused {
        state.find_sets();
        state.scale_only();
        return Ok(());
    }
    if let Some(revision) = rollback::requested(deployment) {
        state.find_or_create_new_set(observed.refused.as_ref())?;
        state.roll_back_to(revision);
        return Ok(());
    }
    state.find_sets();
    if state.is_scaling_event() && !(state.repairs.recreate_scaling && state.cannot_be_scaled()) {
        state.scale_only();
        return Ok(());
    }
    match &deployment.strategy {
        Strategy::Recreate => state.roll_out_recreate(observed.pods, observed.refused.as_ref()),
        Strategy::RollingUpdate(_) => state.roll_out_rolling(observed.refused.as_ref()),
        Strategy::Unknown(strategy) => Err(SyncError::UnknownStrategy(strategy.clone())),
    }
}

/// A selector of everything would claim every ReplicaSet of the namespace, so only the event and the status are
/// written.
fn report_selecting_all(state: &mut SyncState<'_>) {
    state.emit(Event::warning(
        "SelectingAll",
        "This deployment is selecting all pods. A non-empty selector is required.".to_owned(),
    ));
    state.wait_on(WaitingOn::Selector);
    if state.status.observed_generation < state.deployment.meta.generation {
        let mut status = state.status.clone();
        status.observed_generation = state.deployment.meta.generation;
        state.write_status(status, None, IfRefused::Ignore);
    }
}
