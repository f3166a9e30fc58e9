//! History clean-up: old ReplicaSets beyond the limit that nobody needs any more.

use gantry_model::ReplicaSet;

use super::decision::{Action, IfRefused};
use super::in_hand::{InHand, SetInHand};
use super::revision;

impl InHand<'_> {
    /// Deletes the oldest revisions beyond the limit.
    ///
    /// Exactly the excess is looked at. One of them that still has pods is passed over and not replaced by a younger
    /// one: it keeps its place in the excess until it has drained.
    pub(super) fn clean_up_history(&mut self) {
        let Some(limit) = self.deployment.revision_history_limit else { return };
        let mut kept: Vec<_> = self.old_sets().filter(|set| !is_deleting(set)).collect();
        let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        // `kept` is in order of age and the sort is stable, so age decides between revisions that do not differ.
        kept.sort_by_key(|set| revision::revision_of(&set.annotations).unwrap_or(0));
        let drained: Vec<_> =
            kept[..excess].iter().filter(|set| is_drained(set)).map(|set| set.name.clone()).collect();
        for set in drained {
            self.push(Action::DeleteReplicaSet { set }, IfRefused::Fail);
        }
    }
}

fn is_deleting(set: &SetInHand<'_>) -> bool {
    set.observed.as_ref().is_some_and(|observed| observed.meta.is_deleting())
}

/// Whether a set has no pods, wants none, and says so of the spec it has now.
fn is_drained(set: &SetInHand<'_>) -> bool {
    let caught_up = |observed: &ReplicaSet| {
        observed.status.replicas.is_zero() && observed.meta.generation <= observed.status.observed_generation
    };
    !set.is_active() && set.observed.as_deref().is_some_and(caught_up)
}
