//! History clean-up: old ReplicaSets beyond the revision history limit.

use gantry_model::ReplicaSet;

use super::decision::{Action, IfRefused};
use super::revision;
use super::sync_state::{SetState, SyncState};

impl SyncState<'_> {
    /// Deletes the oldest revisions beyond the limit.
    ///
    /// Exactly the excess is considered. A set in it that still has pods is skipped and not replaced by a younger
    /// one.
    pub(super) fn clean_up_history(&mut self) {
        let Some(limit) = self.deployment.revision_history_limit else { return };
        let kept = by_revision(self.old_sets().filter(|set| !is_deleting(set)));
        let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let drained: Vec<_> =
            kept[..excess].iter().filter(|set| is_drained(set)).map(|set| set.name.clone()).collect();
        for set in drained {
            self.push(Action::DeleteReplicaSet { set }, IfRefused::Fail);
        }
    }
}

/// Sorts sets, which are ordered by age, by revision; where one has no readable revision, age decides.
///
/// That is no total order: a set without a revision stays between its neighbours in age, whatever their revisions. So
/// this is an insertion sort: each set moves past those before it, up to one that it does not precede.
fn by_revision<'a, 'b: 'a>(by_age: impl Iterator<Item = &'a SetState<'b>>) -> Vec<&'a SetState<'b>> {
    let mut sorted: Vec<(Option<i64>, &SetState<'_>)> = Vec::new();
    for set in by_age {
        let revision = revision::revision_of(&set.annotations);
        let precedes =
            |later: Option<i64>| revision.zip(later).is_some_and(|(revision, later)| revision < later);
        let place = sorted.iter().rposition(|(earlier, _)| !precedes(*earlier)).map_or(0, |place| place + 1);
        sorted.insert(place, (revision, set));
    }
    sorted.into_iter().map(|(_, set)| set).collect()
}

fn is_deleting(set: &SetState<'_>) -> bool {
    set.observed.as_ref().is_some_and(|observed| observed.meta.is_deleting())
}

/// Whether a set has no pods, has size zero, and has observed its current spec. One that this decision resizes is not
/// drained.
fn is_drained(set: &SetState<'_>) -> bool {
    let was_drained = |observed: &ReplicaSet| {
        !observed.is_active() && observed.status.replicas.is_zero() && observed.has_observed_spec()
    };
    !set.is_active() && set.observed.as_deref().is_some_and(was_drained)
}
