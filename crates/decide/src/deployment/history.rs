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
        let kept = by_revision(self.old_sets().filter(|set| !is_deleting(set)));
        let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let drained: Vec<_> =
            kept[..excess].iter().filter(|set| is_drained(set)).map(|set| set.name.clone()).collect();
        for set in drained {
            self.push(Action::DeleteReplicaSet { set }, IfRefused::Fail);
        }
    }
}

/// Puts sets, which come in order of age, in order of revision; where one cannot be read, age decides.
///
/// That is not an order one can sort by: a set without a revision stands between its neighbours in age, whatever
/// theirs are. So each set goes past those before it, up to one that it does not precede.
fn by_revision<'a, 'b: 'a>(by_age: impl Iterator<Item = &'a SetInHand<'b>>) -> Vec<&'a SetInHand<'b>> {
    let mut sorted: Vec<(Option<i64>, &SetInHand<'_>)> = Vec::new();
    for set in by_age {
        let revision = revision::revision_of(&set.annotations);
        let precedes =
            |later: Option<i64>| revision.zip(later).is_some_and(|(revision, later)| revision < later);
        let place = sorted.iter().rposition(|(earlier, _)| !precedes(*earlier)).map_or(0, |place| place + 1);
        sorted.insert(place, (revision, set));
    }
    sorted.into_iter().map(|(_, set)| set).collect()
}

fn is_deleting(set: &SetInHand<'_>) -> bool {
    set.observed.as_ref().is_some_and(|observed| observed.meta.is_deleting())
}

/// Whether a set has no pods, wants none, and says so of the spec it has now. One that this decision empties or fills
/// has yet to say so.
fn is_drained(set: &SetInHand<'_>) -> bool {
    let was_drained = |observed: &ReplicaSet| {
        !observed.is_active()
            && observed.status.replicas.is_zero()
            && observed.meta.generation <= observed.status.observed_generation
    };
    !set.is_active() && set.observed.as_deref().is_some_and(was_drained)
}
