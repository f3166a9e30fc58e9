//! Which pods go when there are too many: those whose loss hurts least.
//!
//! A pod is judged twice. The *coarse* key packs what orders all pods into one number: assigned or not, phase, ready
//! or not, deletion cost, crowding and how long it has been ready. Pods that it cannot tell apart are compared
//! finely, see [`fine`]. Most of the time only the pods at the cut need that, so the whole is linear in the number of
//! pods plus a sort of those that are alike.
//!
//! *Invariant:* the same pods lead to the same victims, in whatever order the cache lists them. Where the rules leave
//! the choice open, the uid decides.

mod fine;
mod per_node;

use gantry_model::{Phase, Pod, Readiness, ReplicaSet, Timestamp};

use super::manage::{BURST, Gap};
use fine::Fine;
use per_node::PodsPerNode;

/// Whether some pods go and others stay, so that [`related_pods`] have a say in which.
pub fn is_choice_needed(set: &ReplicaSet, active: usize) -> bool {
    matches!(Gap::of(set, active), Gap::TooMany(surplus) if surplus.min(BURST) < active)
}

/// The active pods of all ReplicaSets of the same Deployment, by which crowded nodes are known.
///
/// They are found by selector, not by owner, each once; a set without controller has no relations. Of the sets and
/// pods only those in the set's namespace count.
pub fn related_pods<'a>(
    set: &ReplicaSet,
    sets: impl IntoIterator<Item = &'a ReplicaSet>,
    pods: impl IntoIterator<Item = &'a Pod>,
) -> Vec<&'a Pod> {
    let Some(controller) = set.meta.controller() else { return Vec::new() };
    let is_related = |other: &&ReplicaSet| {
        other.meta.namespace == set.meta.namespace && other.meta.is_controlled_by(&controller.uid)
    };
    let selectors: Vec<_> =
        sets.into_iter().filter(is_related).filter_map(|other| other.selector.as_ref().ok()).collect();
    let is_selected = |pod: &&Pod| {
        pod.is_active()
            && pod.meta.namespace == set.meta.namespace
            && selectors.iter().any(|selector| selector.matches(&pod.meta.labels))
    };
    pods.into_iter().filter(is_selected).collect()
}

/// The `count` pods to delete first.
///
/// They are deleted at the same time, so their order means nothing; it is the same for the same pods.
pub(super) fn choose<'a>(now: Timestamp, active: &[&'a Pod], related: &[&Pod], count: usize) -> Vec<&'a Pod> {
    if count >= active.len() {
        return active.to_vec();
    }
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let crowd = PodsPerNode::count(related);
    let mut candidates: Vec<_> =
        active.iter().map(|pod| (coarse_key(now, pod, crowd.on(pod)), *pod)).collect();
    let cut = candidates.select_nth_unstable_by_key(last, |(key, _)| *key).1.0;

    let mut victims: Vec<_> = candidates.iter().filter(|(key, _)| *key < cut).copied().collect();
    victims.sort_unstable_by_key(|(key, pod)| (*key, &pod.meta.uid));
    let mut victims: Vec<_> = victims.into_iter().map(|(_, pod)| pod).collect();
    let alike = candidates.iter().filter(|(key, _)| *key == cut).map(|(_, pod)| Fine::of(now, pod));
    let wanted = count - victims.len();
    victims.extend(fine::first(wanted, alike.collect()).into_iter().map(|fine| fine.pod));
    victims
}

/// The moment's place on a logarithmic scale of age, the youngest first.
///
/// Old pods of about the same age are alike: which of them goes is left to chance (their uids), so that scaling down
/// does not always hit the pods of one node or zone that came up a little later. Minus one is for what lies in the
/// future, minus two for a moment that is not known and counts as the most recent.
fn age_bucket(now: Timestamp, moment: Option<Timestamp>) -> i8 {
    let Some(moment) = moment else { return -2 };
    let age_nanos = now.as_nanos().saturating_sub(moment.as_nanos());
    // The logarithm of an i64 is at most 62.
    age_nanos.checked_ilog2().map_or(-1, |log| i8::try_from(log).unwrap_or(i8::MAX))
}

/// All that orders pods before it comes to pairs; the smallest goes first.
///
/// From the highest bit down: assigned (1 bit), phase (2), ready (1), cost (32), crowding (32), age of readiness (8).
fn coarse_key(now: Timestamp, pod: &Pod, crowd: u32) -> u128 {
    let phase: u8 = match pod.phase {
        // Finished pods are not active, and never get here.
        Phase::Pending | Phase::Succeeded | Phase::Failed => 0,
        Phase::Unknown => 1,
        Phase::Running => 2,
    };
    let (ready, ready_bucket) = match pod.readiness {
        Readiness::NotReady => (false, i8::MIN),
        Readiness::Ready { since } => (true, age_bucket(now, since)),
    };
    let mut key = u128::from(pod.node.is_some());
    key = key << 2 | u128::from(phase);
    key = key << 1 | u128::from(ready);
    key = key << 32 | u128::from(ordered_bits(pod.deletion_cost));
    key = key << 32 | u128::from(!crowd);
    key << 8 | u128::from(ready_bucket.cast_unsigned() ^ 0x80)
}

/// The number as bits that compare as the number does.
fn ordered_bits(number: i32) -> u32 {
    number.cast_unsigned() ^ 0x8000_0000
}
