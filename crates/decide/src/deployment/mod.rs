//! What to do next about a Deployment.
//!
//! [`decide`] is the whole of it. One decision follows the order delete > pause > rollback > scale > rollout, and each
//! of these has a file of its own:
//!
//! ```text
//! decide ── pause ── sets (find new and old, sync revision, create) ─┬─ rollback
//!                                                                    ├─ scaling ──┐
//!                                                                    ├─ rolling ──┼─ history ── status ── progress
//!                                                                    └─ recreate ─┘
//! ```
//!
//! `in_hand` is the working copy they share: what was observed, plus what this decision has already asked for, so
//! that later steps build on earlier ones as if those had succeeded. A step that is refused says by its
//! [`IfRefused`] what then; if that is to decide again, the caller passes what came back as a [`Setback`].

mod conditions;
mod create;
mod decision;
mod events;
mod history;
mod in_hand;
mod limits;
mod pause;
mod progress;
mod recreate;
mod revision;
mod rollback;
mod rolling;
mod scaling;
mod sets;
mod status;
pub mod triggers;
mod waiting;

pub use conditions::{is_complete, is_progressing};
pub use create::template_hash;
pub use decision::{Action, Deadline, Decision, IfRefused, Outcome, Setback, Step, SyncError};
pub use limits::{Limits, new_set_size};
pub use revision::{append_to_history, revision_of};
pub use waiting::WaitingOn;

use gantry_model::{Deployment, Event, Pod, ReplicaSet, Selector, Strategy, Timestamp};

use in_hand::InHand;

/// How many keys are worked on at once, unless told otherwise.
pub const WORKERS: usize = 5;
/// Who is said to have recorded the events.
pub const EVENT_SOURCE: &str = "deployment-controller";

/// All that is looked at to decide about one Deployment.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The Deployment.
    pub deployment: &'a Deployment,
    /// Its ReplicaSets: those that [`ownership::claim`](crate::ownership::claim) found owned or that were adopted.
    pub sets: &'a [&'a ReplicaSet],
    /// The pods of these ReplicaSets. Only `Recreate` looks at them; for other strategies leave them out.
    pub pods: &'a [&'a Pod],
    /// What was refused when this decision was carried out a moment ago.
    pub setback: Option<Setback>,
}

/// Decides what to do about a Deployment now.
pub fn decide(now: Timestamp, observed: &Observed<'_>) -> Decision {
    let mut hand = InHand::new(now, observed);
    let outcome = match run(&mut hand, observed) {
        Ok(()) => Outcome::Done,
        Err(error) => Outcome::Failed(error),
    };
    hand.conclude(outcome)
}

fn run(hand: &mut InHand<'_>, observed: &Observed<'_>) -> Result<(), SyncError> {
    let deployment = observed.deployment;
    match &deployment.selector {
        Err(invalid) => return Err(SyncError::InvalidSelector(invalid.clone())),
        Ok(Selector::Everything) => {
            refuse_to_select_all(hand);
            return Ok(());
        }
        Ok(Selector::All(_)) => {}
    }
    if deployment.meta.is_deleting() {
        hand.find_sets();
        hand.sync_status();
        return Ok(());
    }
    hand.check_paused();
    if deployment.paused {
        hand.find_sets();
        hand.scale_only();
        return Ok(());
    }
    if let Some(revision) = rollback::requested(deployment) {
        hand.find_or_create_new_set(observed.setback.as_ref())?;
        hand.roll_back_to(revision);
        return Ok(());
    }
    hand.find_sets();
    if hand.is_scaling_event() {
        hand.scale_only();
        return Ok(());
    }
    match &deployment.strategy {
        Strategy::Recreate => hand.roll_out_recreate(observed.pods, observed.setback.as_ref()),
        Strategy::RollingUpdate(_) => hand.roll_out_rolling(observed.setback.as_ref()),
        Strategy::Unknown(strategy) => Err(SyncError::UnknownStrategy(strategy.clone())),
    }
}

/// A selector of everything would claim every ReplicaSet of the namespace, so nothing is done but to say so.
fn refuse_to_select_all(hand: &mut InHand<'_>) {
    hand.emit(Event::warning(
        "SelectingAll",
        "This deployment is selecting all pods. A non-empty selector is required.".to_owned(),
    ));
    hand.wait_on(WaitingOn::Selector);
    if hand.status.observed_generation < hand.deployment.meta.generation {
        let mut status = hand.status.clone();
        status.observed_generation = hand.deployment.meta.generation;
        hand.write_status(status, None, IfRefused::Ignore);
    }
}
