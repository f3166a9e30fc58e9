//! Pause and resume: recorded in the Progressing condition, so that the deadline does not run while paused.

use super::conditions::{self, Condition, DEADLINE_EXCEEDED, PAUSED};
use super::decision::IfRefused;
use super::sync_state::SyncState;

impl SyncState<'_> {
    /// Records once that the Deployment was paused or resumed. A missed deadline is not overwritten.
    pub(super) fn check_paused(&mut self) {
        if self.deployment.progress_deadline_seconds.is_none() {
            return;
        }
        let reason = self.status.progressing().map(|condition| condition.reason.as_str());
        let condition = match (self.deployment.paused, reason) {
            (_, Some(DEADLINE_EXCEEDED)) | (true, Some(PAUSED)) => return,
            (true, _) => Condition::paused(),
            (false, Some(PAUSED)) => Condition::resumed(),
            (false, _) => return,
        };
        let mut status = self.status.clone();
        conditions::set(&mut status, condition, self.now);
        self.write_status(status, None, IfRefused::Fail);
    }
}
