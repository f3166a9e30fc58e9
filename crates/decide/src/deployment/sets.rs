//! Finds the new ReplicaSet and keeps its annotations in step with the Deployment's.

use gantry_model::keys;

use super::conditions::{self, Condition};
use super::decision::{IfRefused, RefusedStep, SyncError};
use super::revision::{self, Synced};
use super::sync_state::SyncState;

impl SyncState<'_> {
    /// Finds the new ReplicaSet, if it exists, and brings its annotations and minReadySeconds up to date.
    ///
    /// Only the template counts, not name or hash label. Of several with the current template the oldest is the new
    /// one, so that two controllers that disagreed converge.
    pub(super) fn find_sets(&mut self) {
        self.new = self.sets.iter().position(|set| {
            set.observed.as_ref().is_some_and(|observed| observed.template == self.deployment.template)
        });
        if let Some(new) = self.new {
            self.sync_new_set(new);
        }
    }

    /// As [`find_sets`](Self::find_sets), and creates the new ReplicaSet if there is none.
    pub(super) fn find_or_create_new_set(&mut self, refused: Option<&RefusedStep>) -> Result<(), SyncError> {
        self.find_sets();
        self.create_new_set_if_absent(refused)
    }

    /// The revision of the new ReplicaSet: one more than any old one has.
    pub(super) fn next_revision(&self) -> i64 {
        let highest =
            self.old_sets().filter_map(|set| revision::revision_of(&set.annotations)).fold(0, i64::max);
        highest.saturating_add(1)
    }

    fn sync_new_set(&mut self, new: usize) {
        let next_revision = self.next_revision();
        let set = &mut self.sets[new];
        let synced = revision::sync_annotations(&self.annotations, next_revision, &mut set.annotations);
        let min_ready_differs = set.min_ready_seconds != self.deployment.min_ready_seconds;
        if synced == Synced::Changed || min_ready_differs {
            set.min_ready_seconds = self.deployment.min_ready_seconds;
            let size = set.replicas;
            self.put_set(new, size, IfRefused::Fail);
        } else {
            self.sync_deployment_with(new);
        }
    }

    /// Copies the revision of an up-to-date new ReplicaSet, and reports that it was found.
    fn sync_deployment_with(&mut self, new: usize) {
        let set = &self.sets[new];
        let revision = set.annotations.get(keys::REVISION).cloned().unwrap_or_default();
        let revision = (self.annotations.get(keys::REVISION) != Some(&revision)).then_some(revision);
        let mut status = self.status.clone();
        let is_first_sight =
            self.deployment.progress_deadline_seconds.is_some() && status.progressing().is_none();
        if is_first_sight {
            conditions::set(&mut status, Condition::found_new_set(&set.name), self.now);
        }
        if is_first_sight || revision.is_some() {
            self.write_status(status, revision, IfRefused::Fail);
        }
    }
}
