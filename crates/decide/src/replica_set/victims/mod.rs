//! Which pods to delete when there are too many.
//!
//! Pods are compared in two stages. The *coarse* key packs the total part of the order into one number: assigned or
//! not, phase, ready or not, deletion cost, related pods on the node and the age of readiness. Pods with equal keys
//! are compared by [`pod_ranking`]. Usually only the pods at the cut need that, so the whole is linear in the number
//! of pods plus a sort of those with equal keys.
//!
//! *Invariant:* the same pods lead to the same victims, in whatever order the cache lists them. Where the rules leave
//! the choice open, the uid decides.

mod per_node;
mod pod_ranking;

use gantry_model::{Phase, Pod, Readiness, ReplicaSet, Timestamp};

use super::manage::{BURST, ReplicaDiff};
use per_node::PodsPerNode;
use pod_ranking::RankedPod;

/// Whether some but not all pods are deleted, so that [`related_pods`] influence which.
pub fn is_choice_needed(set: &ReplicaSet, active: usize) -> bool {
    matches!(ReplicaDiff::of(set, active), ReplicaDiff::TooMany(surplus) if surplus.min(BURST) < active)
}

/// The active pods of all ReplicaSets of the same Deployment, which count the pods per node.
///
/// They are found by selector, not by owner, each once; a set without a controller has none. Only sets and pods of
/// the set's namespace count.
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
/// They are deleted at the same time, so their order means nothing; it is deterministic.
pub(super) fn choose<'a>(now: Timestamp, active: &[&'a Pod], related: &[&Pod], count: usize) -> Vec<&'a Pod> {
    if count >= active.len() {
        return active.to_vec();
    }
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let on_node = PodsPerNode::count(related);
    let mut candidates: Vec<_> =
        active.iter().map(|pod| (coarse_key(now, pod, on_node.on(pod)), *pod)).collect();
    let cut = candidates.select_nth_unstable_by_key(last, |(key, _)| *key).1.0;

    let mut victims: Vec<_> = candidates.iter().filter(|(key, _)| *key < cut).copied().collect();
    victims.sort_unstable_by_key(|(key, pod)| (*key, &pod.meta.uid));
    let mut victims: Vec<_> = victims.into_iter().map(|(_, pod)| pod).collect();
    let alike = candidates.iter().filter(|(key, _)| *key == cut).map(|(_, pod)| RankedPod::of(now, pod));
    let wanted = count - victims.len();
    victims
        .extend(pod_ranking::first(wanted, alike.collect()).into_iter().map(|pod_ranking| pod_ranking.pod));
    victims
}

/// The bucket of a time on a logarithmic scale of age, the youngest first.
///
/// Old pods of similar age share a bucket, and their uids decide, so that scaling down does not always hit the pods
/// of one node or zone that started a little later. Minus one is for times in the future, minus two for an unknown
/// time, which counts as the most recent.
fn age_bucket(now: Timestamp, since: Option<Timestamp>) -> i8 {
    let Some(since) = since else { return -2 };
    let age_nanos = now.as_nanos().saturating_sub(since.as_nanos());
    // The logarithm of an i64 is at most 62.
    age_nanos.checked_ilog2().map_or(-1, |log| i8::try_from(log).unwrap_or(i8::MAX))
}

/// The total part of the order; the smallest key is deleted first.
///
/// From the highest bit down: assigned (1 bit), phase (2), ready (1), cost (32), related pods on the node (32), age
/// of readiness (8).
fn coarse_key(now: Timestamp, pod: &Pod, on_node: u32) -> u128 {
    let phase: u8 = match pod.phase {
        // Terminated pods are not active, and never get here.
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
    key = key << 32 | u128::from(!on_node);
    key << 8 | u128::from(ready_bucket.cast_unsigned() ^ 0x80)
}

/// The number as bits that compare as the number does.
fn ordered_bits(number: i32) -> u32 {
    number.cast_unsigned() ^ 0x8000_0000
}
