//! The scheduler's cache: pods, nodes, the scheduling queue and the requests in flight.
//!
//! Plain data with one writer. It takes updates from informers and results of requests, and returns the next task.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_model::{ObjectKey, Timestamp};

use crate::observe::{CachedNode, CachedPod};
use crate::place::{ClusterState, Placement, SchedulingState, StorageObjects, place};
use crate::scheduling_queue::SchedulingQueue;

#[derive(Debug, Default)]
pub(crate) struct SchedulerCache {
    cluster: ClusterState,
    queue: SchedulingQueue<ObjectKey>,
    /// Pods by their current names.
    pods: BTreeMap<ObjectKey, PodEntry>,
}

#[derive(Debug)]
struct PodEntry {
    pod: Arc<CachedPod>,
    /// Whether a binding was accepted that no informer has shown yet.
    assumed: bool,
}

/// A request to make about a pod.
#[derive(Debug)]
pub(crate) enum Task {
    /// Bind it to a node.
    Bind { pod: Arc<CachedPod>, node: String },
    /// Set its `PodScheduled` condition to false.
    ReportUnschedulable { pod: Arc<CachedPod>, message: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskResult {
    Bound,
    /// The pod's condition was written.
    ReportedUnschedulable,
    /// The pod no longer exists, or its name belongs to another uid.
    Stale,
    /// The request failed; the server may have carried it out.
    Failed,
}

impl SchedulerCache {
    /// Adds, updates or (`None`) removes a node.
    pub(crate) fn update_node(&mut self, key: &ObjectKey, node: Option<&Arc<CachedNode>>) {
        match node {
            Some(seen) => {
                if self.cluster.set_node(seen.node.clone()) {
                    self.queue.move_all_to_active_or_backoff();
                }
            }
            None => self.cluster.remove_node(key.name.as_str()),
        }
    }

    /// Updates claims, volumes or classes, and retries unschedulable pods.
    pub(crate) fn update_storage(&mut self, update: impl FnOnce(&mut StorageObjects)) {
        update(self.cluster.storage_mut());
        self.queue.move_all_to_active_or_backoff();
    }

    /// Adds, updates or (`None`) removes a pod.
    pub(crate) fn update_pod(&mut self, key: &ObjectKey, pod: Option<&Arc<CachedPod>>) {
        let known = self.pods.get(key);
        let same = known.filter(|known| pod.is_some_and(|pod| pod.pod.uid() == known.pod.pod.uid()));
        let assumed = same.is_some_and(|known| known.assumed);
        if same.is_none() {
            self.forget(key);
        }
        let Some(pod) = pod else { return };
        match &pod.state {
            SchedulingState::Pending if assumed => {}
            SchedulingState::Pending => self.queue.add(key.clone(), pod.pod.priority()),
            SchedulingState::Assigned(node) => {
                if self.cluster.add_pod(&pod.pod, node) {
                    self.queue.move_all_to_active_or_backoff();
                }
                self.queue.remove(key);
            }
            SchedulingState::Terminated | SchedulingState::NotEligible => {
                self.queue.remove(key);
                self.remove_pod(pod.pod.uid());
            }
        }
        let assumed = assumed && pod.state == SchedulingState::Pending;
        self.pods.insert(key.clone(), PodEntry { pod: pod.clone(), assumed });
    }

    /// Decides on the next pod of the queue. A pod to bind counts on its node from here on.
    pub(crate) fn next_task(&mut self, now: Timestamp) -> Option<Task> {
        loop {
            let key = self.queue.pop(now)?;
            let Some(known) = self.pods.get(&key) else { continue };
            let pod = known.pod.clone();
            match place(&self.cluster, &pod.pod) {
                Placement::Node(node) => {
                    self.cluster.add_pod(&pod.pod, &node);
                    return Some(Task::Bind { pod, node });
                }
                Placement::Unschedulable(reasons) => {
                    let message = reasons.to_string();
                    if pod.reports(&message) {
                        self.queue.mark_unschedulable(&key, now);
                        continue;
                    }
                    return Some(Task::ReportUnschedulable { pod, message });
                }
            }
        }
    }

    /// Records the result of a task about the pod of this key and uid.
    pub(crate) fn finish(&mut self, key: &ObjectKey, uid: &str, result: TaskResult, now: Timestamp) {
        let current = self.pods.get_mut(key).filter(|known| known.pod.pod.uid() == uid);
        let Some(known) = current else {
            // Another pod has the name by now, and is queued under it.
            self.remove_pod(uid);
            return;
        };
        let placed = matches!(known.pod.state, SchedulingState::Assigned(_));
        match result {
            TaskResult::Bound => {
                known.assumed = !placed;
                self.queue.remove(key);
            }
            TaskResult::ReportedUnschedulable => self.queue.mark_unschedulable(key, now),
            TaskResult::Stale | TaskResult::Failed => {
                self.queue.back_off(key, now);
                if !placed {
                    self.remove_pod(uid);
                }
            }
        }
    }

    /// When the next backoff ends.
    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        self.queue.next_wake()
    }

    fn forget(&mut self, key: &ObjectKey) {
        if let Some(known) = self.pods.remove(key) {
            self.queue.remove(key);
            self.remove_pod(known.pod.pod.uid());
        }
    }

    /// Stops counting a pod, and retries unschedulable pods if that freed resources.
    fn remove_pod(&mut self, uid: &str) {
        if self.cluster.remove_pod(uid) {
            self.queue.move_all_to_active_or_backoff();
        }
    }
}

impl TaskResult {
    /// The `result` label of kube-scheduler's metrics.
    pub(crate) fn metric_label(self) -> &'static str {
        match self {
            Self::Bound => "scheduled",
            Self::ReportedUnschedulable => "unschedulable",
            Self::Stale | Self::Failed => "error",
        }
    }
}

impl CachedPod {
    /// Whether the `PodScheduled` condition already has this message.
    fn reports(&self, message: &str) -> bool {
        self.scheduled_condition.as_ref().is_some_and(|condition| {
            condition.status == "False"
                && condition.reason.as_deref() == Some("Unschedulable")
                && condition.message.as_deref() == Some(message)
        })
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};
    use gantry_runtime::informer::{Cached as _, resource_of};
    use k8s_openapi::api::core::v1 as core;

    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

    fn key(name: &str) -> ObjectKey {
        ObjectKey { namespace: "shop".into(), name: name.into() }
    }

    fn later(seconds: u64) -> Timestamp {
        NOON.plus(std::time::Duration::from_secs(seconds))
    }

    /// A cache with one node of four cores.
    fn cache() -> SchedulerCache {
        let node = json!({
            "metadata": {"name": "a", "uid": "node-a"},
            "status": {
                "allocatable": {"cpu": "4", "pods": "10"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        });
        let wire = gantry_json::from_value::<core::Node>(node).unwrap();
        let seen = CachedNode::parse(&resource_of::<core::Node>(), &Arc::new(wire)).unwrap();
        let mut cache = SchedulerCache::default();
        cache.update_node(&ObjectKey { namespace: "".into(), name: "a".into() }, Some(&Arc::new(seen)));
        cache
    }

    /// A pod that requests three cores.
    fn pod(name: &str, uid: &str, node: Option<&str>) -> Arc<CachedPod> {
        let pod = json!({
            "metadata": {"name": name, "namespace": "shop", "uid": uid},
            "spec": {
                "nodeName": node,
                "containers": [{"name": "app", "resources": {"requests": {"cpu": "3"}}}],
            },
        });
        let wire = gantry_json::from_value::<core::Pod>(pod).unwrap();
        Arc::new(CachedPod::parse(&resource_of::<core::Pod>(), &Arc::new(wire)).unwrap())
    }

    /// The next task: `bind u1 to a`, `report u1`, or nothing.
    fn next(cache: &mut SchedulerCache, now: Timestamp) -> Value {
        match cache.next_task(now) {
            Some(Task::Bind { pod, node }) => json!(format!("bind {} to {node}", pod.pod.uid())),
            Some(Task::ReportUnschedulable { pod, .. }) => json!(format!("report {}", pod.pod.uid())),
            None => Value::Null,
        }
    }

    #[test]
    fn a_bound_pod_is_not_bound_again_before_the_informer_shows_it() {
        let mut cache = cache();
        cache.update_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut cache, NOON), "bind u1 to a");
        cache.update_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut cache, NOON), Value::Null, "a request is in flight");
        cache.finish(&key("web"), "u1", TaskResult::Bound, NOON);
        cache.update_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(
            next(&mut cache, later(60)),
            Value::Null,
            "the pod is bound, whatever a stale update shows"
        );
        cache.update_pod(&key("web"), Some(&pod("web", "u1", Some("a"))));
        assert_eq!(next(&mut cache, later(60)), Value::Null);
    }

    #[test]
    fn an_assumed_pod_counts_on_its_node_until_the_binding_fails() {
        let mut cache = cache();
        cache.update_pod(&key("web"), Some(&pod("web", "u1", None)));
        cache.update_pod(&key("db"), Some(&pod("db", "u2", None)));
        assert_eq!(next(&mut cache, NOON), "bind u1 to a");
        assert_eq!(next(&mut cache, NOON), "report u2", "the node does not fit both");
        cache.finish(&key("web"), "u1", TaskResult::Failed, NOON);
        cache.finish(&key("db"), "u2", TaskResult::ReportedUnschedulable, NOON);
        assert_eq!(next(&mut cache, later(1)), "bind u1 to a", "it was queued first");
        cache.finish(&key("web"), "u1", TaskResult::Bound, later(1));
        assert_eq!(next(&mut cache, later(1)), "report u2", "resources were temporarily free");
        cache.finish(&key("db"), "u2", TaskResult::ReportedUnschedulable, later(1));
        cache.update_pod(&key("web"), None);
        assert_eq!(next(&mut cache, later(60)), "bind u2 to a");
    }

    #[test]
    fn a_binding_whose_response_was_lost_is_noticed() {
        let mut cache = cache();
        cache.update_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut cache, NOON), "bind u1 to a");
        cache.update_pod(&key("web"), Some(&pod("web", "u1", Some("a"))));
        cache.finish(&key("web"), "u1", TaskResult::Failed, NOON);
        cache.update_pod(&key("db"), Some(&pod("db", "u2", None)));
        assert_eq!(next(&mut cache, later(60)), "report u2", "the first pod was bound nevertheless");
    }

    #[test]
    fn a_pod_of_the_same_name_and_another_uid_is_another_pod() {
        let mut cache = cache();
        cache.update_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut cache, NOON), "bind u1 to a");
        cache.update_pod(&key("web"), Some(&pod("web", "u2", None)));
        assert_eq!(next(&mut cache, NOON), "bind u2 to a", "the resources of the first pod are free again");
        cache.finish(&key("web"), "u1", TaskResult::Stale, NOON);
        cache.finish(&key("web"), "u2", TaskResult::Bound, NOON);
        assert_eq!(next(&mut cache, later(60)), Value::Null);
    }
}
