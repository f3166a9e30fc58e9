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

/// The objects that are meant; a bare type means all of the namespace.
async fn targets(
    session: &mut Session,
    selection: &Selection,
) -> Result<(Vec<Found>, Vec<Failure>), Failure> {
    if selection.is_empty() {
        return Err(Failure::other("required resource not specified"));
    }
    let (found, failures) = find(session, selection, BareType::All).await?;
    if found.is_empty() && failures.is_empty() {
        session.tell(&format!("No resources found in {} namespace.", session.namespace));
    }
    Ok((found, failures))
}
