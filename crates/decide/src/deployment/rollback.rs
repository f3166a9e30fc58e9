//! The legacy rollback: an annotation requests an earlier template, which is written back into the Deployment.
//!
//! The rollout itself happens in later syncs. `kubectl rollout undo` does not use this path.

use gantry_model::{Annotations, Deployment, DeploymentEdit, Event, Template, keys};

use super::decision::{Action, IfRefused};
use super::sync_state::SyncState;
use super::waiting::WaitingOn;
use super::{events, revision};

/// The requested revision; `None` if there is none or it is not a number.
pub(super) fn requested(deployment: &Deployment) -> Option<i64> {
    deployment.meta.annotations.get(keys::ROLLBACK_TO)?.parse().ok()
}

impl SyncState<'_> {
    /// Rolls back to a revision (zero: the last but one) and removes the request in any case.
    pub(super) fn roll_back_to(&mut self, revision: i64) {
        let wanted = if revision == 0 { self.last_revision() } else { revision };
        if wanted == 0 {
            self.write_rollback(None, events::no_last_revision());
            return;
        }
        let is_wanted = |annotations: &Annotations| revision::revision_of(annotations) == Some(wanted);
        let target = self.old_sets().chain(self.new_set()).find(|set| is_wanted(&set.annotations));
        let deployment = &self.deployment;
        match target {
            None => self.write_rollback(None, events::no_such_revision()),
            // A set without an observation was just created from the current template.
            Some(set) => match &set.observed {
                Some(observed) if observed.template != deployment.template => {
                    let template = observed.template.without_hash();
                    let annotations = self.annotations_of_revision(&set.annotations);
                    let event = events::rolled_back(&deployment.meta.name, wanted);
                    self.write_rollback(Some((template, annotations)), event);
                }
                _ => self.write_rollback(None, events::template_unchanged(&deployment.meta.name)),
            },
        }
    }

    /// The second highest revision; if two sets share the highest, that one.
    fn last_revision(&self) -> i64 {
        let (mut highest, mut second) = (0, 0);
        for revision in self.sets.iter().filter_map(|set| revision::revision_of(&set.annotations)) {
            if revision >= highest {
                (second, highest) = (highest, revision);
            } else if revision > second {
                second = revision;
            }
        }
        second
    }

    /// The Deployment's own annotations, and the user annotations of the revision.
    fn annotations_of_revision(&self, set: &Annotations) -> Annotations {
        let own = self.annotations.iter().filter(|(key, _)| !revision::is_copied(key));
        let from_set = set.iter().filter(|(key, _)| revision::is_copied(key));
        own.chain(from_set).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Removes the request from the Deployment, with the earlier template if there is one, and records the event.
    fn write_rollback(&mut self, earlier: Option<(Template, Annotations)>, event: Event) {
        let (template, mut annotations) = match earlier {
            Some((template, annotations)) => (Some(template), annotations),
            None => (None, self.annotations.clone().into_owned()),
        };
        annotations.remove(keys::ROLLBACK_TO);
        let edit = Action::UpdateDeployment(Box::new(DeploymentEdit { annotations, template }));
        self.wait_on(WaitingOn::OwnWrites);
        if event.event_type == gantry_model::EventType::Normal {
            self.push(edit, IfRefused::Fail);
            self.emit(event);
        } else {
            self.emit(event);
            self.push(edit, IfRefused::Fail);
        }
    }
}
