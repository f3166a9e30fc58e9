//! The rules about pods.

use std::time::Duration;

use super::views::{PodView, SetView};
use super::{FollowedPod, Judge, Writer};

impl Judge {
    /// Rules about a pod that was created, changed, deleted or removed.
    pub(super) fn check_pod(&mut self, before: Option<&FollowedPod>, after: Option<&PodView>, by: Writer) {
        if by != Writer::Controller {
            return;
        }
        match (before, after) {
            (None, Some(pod)) => self.check_new_pod(pod),
            (Some(before), after) if before.view.is_active && !after.is_some_and(|after| after.is_active) => {
                self.check_deleted_pod(before);
            }
            _ => {}
        }
    }

    /// A set has no more active pods than it was sized for, except for creations whose response was lost.
    fn check_new_pod(&mut self, pod: &PodView) {
        let from = self.from();
        let lost = Self::lost_lately(&mut self.lost_creations, from);
        let Some(set) = self.sets.values().find(|set| set.view.uid == pod.owner) else { return };
        let (pods, size) = (set.history.active_pods.last() + 1, set.history.size.most(from));
        if pods > size + lost {
            let found = format!(
                "{} of size {size} gets its pod number {pods}; {lost} responses were lost",
                set.view.name
            );
            self.find("no set gets more pods than its size", found);
        }
    }

    /// A set deletes a pod only if it has more than it was sized for. It may not have observed pods that ended
    /// meanwhile, or that it deleted without getting the response: as in Kubernetes, it then chooses again from the
    /// pods in its cache.
    fn check_deleted_pod(&mut self, pod: &FollowedPod) {
        let from = self.from();
        if pod.view.is_evicted {
            return;
        }
        let lost = Self::lost_lately(&mut self.lost_deletions, from);
        let Some(set) = self.sets.values().find(|set| set.view.uid == pod.view.owner) else { return };
        let ended = set.history.ended.iter().filter(|ended| **ended >= from).count();
        let ended = lost + i64::try_from(ended).unwrap_or(0);
        let (pods, size) = (set.history.active_pods.last(), set.history.size.least(from));
        if set.view.is_deleting {
            return;
        }
        if pods + ended <= size {
            let found =
                format!("{} of size {size} deletes one of {pods} pods; {ended} ended lately", set.view.name);
            self.find("no set deletes a pod unless it has too many", found);
            return;
        }
        // All pods that are deleted at once were chosen together: a ready one is wrong only if the unready ones would
        // have been enough. A pod that ended or changed recently may have had another state in the set's cache.
        let others = self.pods.values().filter(|other| other.view.owner == pod.view.owner);
        let unready =
            others.filter(|other| other.view.is_active && other.has_been_unready_since(from)).count();
        let unready = i64::try_from(unready).unwrap_or(i64::MAX);
        let surplus = pods + ended - size;
        if pod.has_been_ready_since(from) && unready >= surplus {
            let found = format!(
                "{} of size {size} deletes a ready one of {pods} pods, of which {unready} are not ready",
                set.view.name
            );
            self.find("pods that are not ready are deleted before those that are", found);
        }
    }

    /// No pod counts as available before it was ready for `minReadySeconds`.
    ///
    /// Pods that have existed for longer than any cache may be late were among those that the set counted, so they must
    /// not have been counted if they became ready too late, whenever the set was synced.
    pub(super) fn check_available(&mut self, set: &SetView, pods_most: i64) {
        if set.observed_generation != set.generation {
            return;
        }
        let (from, latest) = (self.from(), self.now + self.staleness);
        let too_young = self.pods.values().filter(|pod| {
            let is_too_young = pod.ready_since.is_some_and(|since| since + set.min_ready > latest)
                || pod.has_been_unready_since(from);
            pod.view.owner == set.uid && pod.view.is_active && pod.since < from && is_too_young
        });
        let too_young = i64::try_from(too_young.count()).unwrap_or(i64::MAX);
        if set.available() > pods_most - too_young {
            let found = format!(
                "{}: {} available of at most {pods_most} pods, but {too_young} have not been ready for {:?}",
                set.name,
                set.available(),
                set.min_ready
            );
            self.find("a pod is available only when it has been ready for long enough", found);
        }
    }
}

impl FollowedPod {
    /// The pod after a write.
    ///
    /// A node continues with its own state of a pod when it is back after an outage: its pods are ready since before
    /// the controllers declared them unready.
    pub(super) fn after(before: Option<&Self>, view: PodView, at: Duration, by: Writer) -> Self {
        let kept = |since: Option<Duration>, holds: bool| holds.then(|| since.unwrap_or(at));
        Self {
            since: before.map_or(at, |before| before.since),
            ready_since: kept(
                before.and_then(|before| before.ready_since.or(before.declared_unready)),
                view.is_ready,
            ),
            declared_unready: before.filter(|_| !view.is_ready).and_then(|before| {
                if by == Writer::Controller { before.ready_since.or(before.declared_unready) } else { None }
            }),
            unready_since: kept(before.and_then(|before| before.unready_since), !view.is_ready),
            view,
        }
    }

    fn has_been_ready_since(&self, from: Duration) -> bool {
        self.ready_since.is_some_and(|since| since < from)
    }

    fn has_been_unready_since(&self, from: Duration) -> bool {
        self.unready_since.is_some_and(|since| since < from)
    }
}
