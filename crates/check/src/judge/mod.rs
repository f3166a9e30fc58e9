//! Checks a cluster while it runs: every write of the server is passed to a [`Judge`], which returns the rules that it
//! breaks.
//!
//! Controllers read from caches, which lag behind. So a rule is about what a controller could have read: it holds for
//! the most favourable values that the objects have had within the *staleness*, the maximum time by which a cache may
//! be late, including the time that the requests of one sync take. In a calm cluster this is a second or two, and the
//! rules are exact.

mod pod_rules;
mod recent;
mod rules;
mod settled;
#[cfg(test)]
mod tests;
mod views;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use gantry_json::Value;

use crate::Finding;
use recent::Recent;
use views::{DeploymentView, PodView, SetView};

/// The origin of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A controller that keeps the number of pods or sets, or rolls out.
    Controller,
    /// The garbage collector: its deletions have a propagation policy.
    GarbageCollector,
    /// A user, a node or the server itself.
    Other,
}

/// A request that has another effect if it is repeated: a set may choose another name, or another pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodRequest {
    /// Creates a pod.
    Create,
    /// Deletes a pod.
    Delete,
}

/// One object that was written.
#[derive(Clone, Copy, Debug)]
pub struct ObservedWrite<'a> {
    /// The time since the start.
    pub at: Duration,
    /// The origin of the request.
    pub by: Writer,
    /// Its key in the store: `/registry/pods/default/web`.
    pub key: &'a str,
    /// The object; `None` if it was removed.
    pub object: Option<&'a Value>,
}

/// Follows the Deployments, ReplicaSets and Pods of a cluster.
#[derive(Clone, Debug)]
pub struct Judge {
    staleness: Duration,
    now: Duration,
    deployments: BTreeMap<String, Followed<DeploymentView, DeploymentHistory>>,
    sets: BTreeMap<String, Followed<SetView, SetHistory>>,
    pods: BTreeMap<String, FollowedPod>,
    /// The owners of every object of these kinds, by key, for the garbage collector.
    owners: BTreeMap<String, Vec<String>>,
    /// When the response to the creation of a pod was lost.
    lost_creations: VecDeque<Duration>,
    /// When the response to the deletion of a pod was lost.
    lost_deletions: VecDeque<Duration>,
    /// The uids of ReplicaSets whose Deployment was deleted with its dependents orphaned.
    orphaned: BTreeSet<String>,
    /// The uids of all existing objects.
    uids: BTreeMap<String, String>,
    /// The keys of all objects whose deletion has begun.
    deleting: BTreeSet<String>,
    findings: Vec<Finding>,
}

/// An object and the recent values of the numbers that the rules need.
#[derive(Clone, Debug)]
struct Followed<V, H> {
    view: V,
    history: H,
}

#[derive(Clone, Debug)]
struct DeploymentHistory {
    generation: Recent,
    ceiling: Recent,
    kept_sets: Recent,
    /// 1 for RollingUpdate, 0 for Recreate.
    rolling: Recent,
    highest_revision: i64,
    revision: Recent,
    /// 1 while it is paused.
    paused: Recent,
    /// 1 while it has an annotation that requests a rollback.
    rollback: Recent,
    /// 1 while it is deleted in the foreground.
    foreground: Recent,
    /// When its spec, or its condition about progress, last changed.
    progress_at: Duration,
}

#[derive(Clone, Debug)]
struct SetHistory {
    /// When it was created or adopted by its present owner.
    owned_since: Duration,
    /// Whether its owner has changed.
    is_adopted: bool,
    /// Its size while it has its present owner, 0 before.
    size: Recent,
    available: Recent,
    active_pods: Recent,
    /// The number of its pods that have not ended, including terminating ones.
    unfinished_pods: Recent,
    /// 1 while it is deleted in the foreground.
    foreground: Recent,
    /// Its size and `sized_max` before it was last sized for another size of its Deployment.
    scaled_from: Option<(i64, Option<i64>)>,
    /// When its pods ended, or were deleted, by writers other than the controllers.
    ended: VecDeque<Duration>,
}

/// A pod, and the times since when it has its present state.
#[derive(Clone, Debug)]
struct FollowedPod {
    view: PodView,
    since: Duration,
    ready_since: Option<Duration>,
    /// Since when it was ready, if it is unready only because the controllers have lost its node.
    declared_unready: Option<Duration>,
    unready_since: Option<Duration>,
}

impl Judge {
    /// A judge of an empty cluster whose caches lag by at most this much.
    pub fn new(staleness: Duration) -> Self {
        Self {
            staleness,
            now: Duration::ZERO,
            deployments: BTreeMap::new(),
            sets: BTreeMap::new(),
            pods: BTreeMap::new(),
            owners: BTreeMap::new(),
            lost_creations: VecDeque::new(),
            lost_deletions: VecDeque::new(),
            orphaned: BTreeSet::new(),
            uids: BTreeMap::new(),
            deleting: BTreeSet::new(),
            findings: Vec::new(),
        }
    }

    /// Records that the outcome of a request about a pod is unknown to its sender, which may repeat it.
    pub fn lost_response(&mut self, at: Duration, request: PodRequest) {
        match request {
            PodRequest::Create => self.lost_creations.push_back(at),
            PodRequest::Delete => self.lost_deletions.push_back(at),
        }
    }

    /// The time of the last write.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Checks a write, and returns the rules that it breaks.
    pub fn observe(&mut self, write: ObservedWrite<'_>) -> Vec<Finding> {
        self.now = write.at;
        let Some((resource, name)) = write.key.strip_prefix("/registry/").and_then(|key| key.split_once('/'))
        else {
            return Vec::new();
        };
        if !matches!(resource, "deployments" | "replicasets" | "pods") {
            return Vec::new();
        }
        // An object that is being deleted is removed in the end, whatever happens to its owner.
        if write.object.is_none_or(is_deleting) && !self.deleting.contains(write.key) {
            self.check_collection(&write);
        }
        match resource {
            "deployments" => self.deployment(name, &write),
            "replicasets" => self.set(name, &write),
            _ => self.pod(name, &write),
        }
        self.follow_identity(&write);
        std::mem::take(&mut self.findings)
    }

    /// The earliest time at which a stale reader may have read.
    fn from(&self) -> Duration {
        self.now.saturating_sub(self.staleness)
    }

    fn deployment(&mut self, name: &str, write: &ObservedWrite<'_>) {
        let Some(object) = write.object else {
            if let Some(removed) = self.deployments.remove(name) {
                // A user who deletes it again in the background requests the collection of its sets.
                let is_user = write.by == Writer::Other;
                self.forget_orphans(&removed.view, if is_user { Duration::ZERO } else { self.from() });
            }
            return;
        };
        let view = DeploymentView::of(object);
        let (at, from) = (self.now, self.from());
        let known = self.deployments.remove(name).filter(|known| known.view.uid == view.uid);
        if let Some(known) = &known {
            self.check_deployment(known, &view, write.by);
        }
        if view.is_deleting && view.finalizers.iter().any(|finalizer| finalizer == "orphan") {
            let owned = self.sets.values().filter(|set| set.view.owner == view.uid && !set.view.is_deleting);
            self.orphaned.extend(owned.map(|set| set.view.uid.clone()));
        } else if view.is_deleting && write.by == Writer::Other {
            self.forget_orphans(&view, Duration::ZERO);
        }
        let rolling = i64::from(view.is_rolling);
        let (paused, rollback) = (i64::from(view.is_paused), i64::from(view.is_rolled_back));
        let foreground = i64::from(view.is_deleted_in_foreground());
        let is_same = known.as_ref().is_some_and(|known| {
            known.view.generation == view.generation && known.view.progress == view.progress
        });
        let mut history = known.map_or_else(
            || DeploymentHistory {
                generation: Recent::new(at, view.generation),
                ceiling: Recent::new(at, view.ceiling()),
                kept_sets: Recent::new(at, view.history),
                rolling: Recent::new(at, rolling),
                highest_revision: 0,
                revision: Recent::new(at, view.revision),
                paused: Recent::new(at, paused),
                rollback: Recent::new(at, rollback),
                foreground: Recent::new(at, foreground),
                progress_at: at,
            },
            |known| known.history,
        );
        history.generation.set(at, view.generation, from);
        history.ceiling.set(at, view.ceiling(), from);
        history.kept_sets.set(at, view.history, from);
        history.rolling.set(at, rolling, from);
        history.highest_revision = history.highest_revision.max(view.revision);
        history.revision.set(at, view.revision, from);
        history.paused.set(at, paused, from);
        history.rollback.set(at, rollback, from);
        history.foreground.set(at, foreground, from);
        history.progress_at = if is_same { history.progress_at } else { at };
        self.deployments.insert(name.to_owned(), Followed { view, history });
    }

    /// Expects the sets that a Deployment has owned only since then to be collected: all if a user has requested it;
    /// otherwise those that the garbage collector may not have observed when it orphaned the others, as in Kubernetes.
    fn forget_orphans(&mut self, deployment: &DeploymentView, since: Duration) {
        let sets = self.sets.values().filter(|set| set.view.owner == deployment.uid);
        for set in sets.filter(|set| set.history.owned_since >= since) {
            self.orphaned.remove(&set.view.uid);
        }
    }

    fn set(&mut self, name: &str, write: &ObservedWrite<'_>) {
        let Some(object) = write.object else {
            if let Some(known) = self.sets.remove(name) {
                self.check_removed_set(&known, write.by);
            }
            return;
        };
        let view = SetView::of(object);
        let (at, from) = (self.now, self.from());
        let known = self.sets.get(name).filter(|known| known.view.uid == view.uid).cloned();
        self.check_set(known.as_ref(), &view, write.by);
        let mut history = known.as_ref().map_or_else(
            || SetHistory {
                owned_since: at,
                is_adopted: false,
                size: Recent::new(at, 0),
                available: Recent::new(at, 0),
                active_pods: Recent::new(at, 0),
                unfinished_pods: Recent::new(at, 0),
                foreground: Recent::new(at, 0),
                scaled_from: None,
                ended: VecDeque::new(),
            },
            |known| known.history.clone(),
        );
        if let Some(known) = known.as_ref().filter(|known| known.view.sized_for != view.sized_for) {
            history.scaled_from = Some((known.view.size, known.view.sized_max));
        }
        if known.is_some_and(|known| known.view.owner != view.owner) {
            history.size.set(at, 0, from);
            (history.owned_since, history.is_adopted) = (at, true);
            // Another Deployment may adopt it, and be deleted with it.
            self.orphaned.remove(&view.uid);
        }
        history.size.set(at, view.size, from);
        history.available.set(at, view.available(), from);
        history.foreground.set(at, i64::from(view.is_deleted_in_foreground()), from);
        self.sets.insert(name.to_owned(), Followed { view, history });
    }

    fn pod(&mut self, name: &str, write: &ObservedWrite<'_>) {
        let view = write.object.map(PodView::of);
        let known = self.pods.get(name).cloned();
        self.check_pod(known.as_ref(), view.as_ref(), write.by);
        let (before, after) = (known.as_ref().map(|known| &known.view), view.as_ref());
        let is = |state: fn(&PodView) -> bool, pod: Option<&PodView>| pod.is_some_and(state);
        let (was_active, is_active) = (is(|pod| pod.is_active, before), is(|pod| pod.is_active, after));
        let unfinished = |pod| i64::from(is(|pod| pod.is_unfinished, pod));
        let owner = after.or(before).map(|pod| pod.owner.clone()).unwrap_or_default();
        let (at, from) = (self.now, self.from());
        if let Some(set) = self.sets.values_mut().find(|set| set.view.uid == owner) {
            let active = set.history.active_pods.last() + i64::from(is_active) - i64::from(was_active);
            set.history.active_pods.set(at, active, from);
            let existing = set.history.unfinished_pods.last() + unfinished(after) - unfinished(before);
            set.history.unfinished_pods.set(at, existing, from);
            let is_evicted = is(|pod| pod.is_evicted, after.or(before));
            if was_active && !is_active && (write.by != Writer::Controller || is_evicted) {
                set.history.ended.push_back(at);
            }
            while set.history.ended.front().is_some_and(|ended| *ended < from) {
                set.history.ended.pop_front();
            }
        }
        match view {
            Some(view) => {
                let followed = FollowedPod::after(known.as_ref(), view, at, write.by);
                self.pods.insert(name.to_owned(), followed)
            }
            None => self.pods.remove(name),
        };
    }

    /// Keeps track of which uids exist, and of the owners of every object.
    fn follow_identity(&mut self, write: &ObservedWrite<'_>) {
        let Some(object) = write.object else {
            self.uids.remove(write.key);
            self.deleting.remove(write.key);
            self.owners.remove(write.key);
            return;
        };
        if is_deleting(object) {
            self.deleting.insert(write.key.to_owned());
        } else {
            self.deleting.remove(write.key);
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        self.uids.insert(write.key.to_owned(), uid);
        self.owners.insert(write.key.to_owned(), views::owners(object));
    }

    fn owner_of(&self, set: &SetView) -> Option<&Followed<DeploymentView, DeploymentHistory>> {
        self.deployments.values().find(|deployment| deployment.view.uid == set.owner)
    }

    fn sets_of<'a>(
        &'a self,
        deployment: &'a DeploymentView,
    ) -> impl Iterator<Item = &'a Followed<SetView, SetHistory>> {
        self.sets.values().filter(|set| set.view.owner == deployment.uid)
    }

    /// Whether a Deployment has an adopted set of its present template. Before the adoption it may have created one
    /// with another name.
    fn has_adopted_new_set(&self, deployment: &DeploymentView) -> bool {
        self.sets_of(deployment).any(|set| set.history.is_adopted && set.view.template == deployment.template)
    }

    /// The number of responses that were lost recently; drops the earlier ones.
    fn lost_lately(lost: &mut VecDeque<Duration>, from: Duration) -> i64 {
        while lost.front().is_some_and(|lost| *lost < from) {
            lost.pop_front();
        }
        i64::try_from(lost.len()).unwrap_or(i64::MAX)
    }

    fn find(&mut self, broken: &'static str, found: String) {
        self.findings.push(Finding { broken, found });
    }
}

fn is_deleting(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}
