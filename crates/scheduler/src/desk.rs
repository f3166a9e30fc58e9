//! The scheduler's desk: who waits, who sits where, and what is under way.
//!
//! Plain data with one writer. It is told what is seen and what became of requests, and says what to do next.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_model::{ObjectKey, Timestamp};

use crate::line::Line;
use crate::observe::{SeenNode, SeenPod};
use crate::place::{Cluster, Placement, Standing, Storage, place};

/// Everything the scheduler has in mind.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    cluster: Cluster,
    line: Line<ObjectKey>,
    /// The pods that are known, under the names they have now.
    pods: BTreeMap<ObjectKey, Known>,
}

#[derive(Debug)]
struct Known {
    seen: Arc<SeenPod>,
    /// Whether a binding was accepted that no informer has shown yet.
    bound: bool,
}

/// What to do about a pod.
#[derive(Debug)]
pub(crate) enum Task {
    /// Send it to the node of this name.
    Bind {
        /// The pod.
        pod: Arc<SeenPod>,
        /// Where to.
        node: String,
    },
    /// Say why it has no place.
    Explain {
        /// The pod.
        pod: Arc<SeenPod>,
        /// Why.
        message: String,
    },
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    /// The pod is on its way to its node.
    Bound,
    /// It is known to have no place.
    Explained,
    /// It is not to be had any more, or not under this uid.
    Gone,
    /// Something went wrong; perhaps it was done, perhaps not.
    Failed,
}

impl Desk {
    /// A node is as it is shown, or gone.
    pub(crate) fn see_node(&mut self, key: &ObjectKey, node: Option<&Arc<SeenNode>>) {
        match node {
            Some(seen) => {
                if self.cluster.set_node(seen.node.clone()) {
                    self.line.stir();
                }
            }
            None => self.cluster.remove_node(key.name.as_str()),
        }
    }

    /// Claims, volumes or classes are otherwise, which may help a pod that found no place.
    pub(crate) fn see_storage(&mut self, update: impl FnOnce(&mut Storage)) {
        update(self.cluster.storage_mut());
        self.line.stir();
    }

    /// A pod is as it is shown, or gone.
    pub(crate) fn see_pod(&mut self, key: &ObjectKey, pod: Option<&Arc<SeenPod>>) {
        let known = self.pods.get(key);
        let same = known.filter(|known| pod.is_some_and(|pod| pod.pod.uid() == known.seen.pod.uid()));
        let bound = same.is_some_and(|known| known.bound);
        if same.is_none() {
            self.forget(key);
        }
        let Some(pod) = pod else { return };
        match &pod.standing {
            Standing::Pending if bound => {}
            Standing::Pending => self.line.enter(key.clone(), pod.pod.priority()),
            Standing::Placed(node) => {
                if self.cluster.occupy(&pod.pod, node) {
                    self.line.stir();
                }
                self.line.leave(key);
            }
            Standing::Finished | Standing::NotYet => {
                self.line.leave(key);
                self.vacate(pod.pod.uid());
            }
        }
        let bound = bound && pod.standing == Standing::Pending;
        self.pods.insert(key.clone(), Known { seen: pod.clone(), bound });
    }

    /// The next thing to do. The pod counts as being where it is sent.
    pub(crate) fn next_task(&mut self, now: Timestamp) -> Option<Task> {
        loop {
            let key = self.line.take(now)?;
            let Some(known) = self.pods.get(&key) else { continue };
            let pod = known.seen.clone();
            match place(&self.cluster, &pod.pod) {
                Placement::Node(node) => {
                    self.cluster.occupy(&pod.pod, &node);
                    return Some(Task::Bind { pod, node });
                }
                Placement::Nowhere(reasons) => {
                    let message = reasons.to_string();
                    if pod.says(&message) {
                        self.line.park(&key, now);
                        continue;
                    }
                    return Some(Task::Explain { pod, message });
                }
            }
        }
    }

    /// A task about the pod of this key and uid has ended.
    pub(crate) fn finish(&mut self, key: &ObjectKey, uid: &str, became: Became, now: Timestamp) {
        let current = self.pods.get_mut(key).filter(|known| known.seen.pod.uid() == uid);
        let Some(known) = current else {
            // Somebody else has the name by now, and waits in line under it.
            self.vacate(uid);
            return;
        };
        let placed = matches!(known.seen.standing, Standing::Placed(_));
        match became {
            Became::Bound => {
                known.bound = !placed;
                self.line.leave(key);
            }
            Became::Explained => self.line.park(key, now),
            Became::Gone | Became::Failed => {
                self.line.rest(key, now);
                if !placed {
                    self.vacate(uid);
                }
            }
        }
    }

    /// When to look again, if nothing happens before.
    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        self.line.next_wake()
    }

    fn forget(&mut self, key: &ObjectKey) {
        if let Some(known) = self.pods.remove(key) {
            self.line.leave(key);
            self.vacate(known.seen.pod.uid());
        }
    }

    /// Room that becomes free may help somebody.
    fn vacate(&mut self, uid: &str) {
        if self.cluster.vacate(uid) {
            self.line.stir();
        }
    }
}

impl Became {
    /// What kube-scheduler's metrics call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Bound => "scheduled",
            Self::Explained => "unschedulable",
            Self::Gone | Self::Failed => "error",
        }
    }
}

impl SeenPod {
    /// Whether the pod says already that it has no place, in these words.
    fn says(&self, message: &str) -> bool {
        self.told.as_ref().is_some_and(|told| {
            told.status == "False"
                && told.reason.as_deref() == Some("Unschedulable")
                && told.message.as_deref() == Some(message)
        })
    }
}

#[cfg(test)]
mod tests {
    use gantry_runtime::informer::{Cached as _, resource_of};
    use k8s_openapi::api::core::v1 as core;
    use serde_json::{Value, json};

    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

    fn key(name: &str) -> ObjectKey {
        ObjectKey { namespace: "shop".into(), name: name.into() }
    }

    fn later(seconds: u64) -> Timestamp {
        NOON.plus(std::time::Duration::from_secs(seconds))
    }

    /// A desk with one node of four cores.
    fn desk() -> Desk {
        let node = json!({
            "metadata": {"name": "a", "uid": "node-a"},
            "status": {
                "allocatable": {"cpu": "4", "pods": "10"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        });
        let wire = serde_json::from_value(node).unwrap();
        let seen = SeenNode::parse(&resource_of::<core::Node>(), wire).unwrap();
        let mut desk = Desk::default();
        desk.see_node(&ObjectKey { namespace: "".into(), name: "a".into() }, Some(&Arc::new(seen)));
        desk
    }

    /// A pod that wants three cores.
    fn pod(name: &str, uid: &str, node: Option<&str>) -> Arc<SeenPod> {
        let pod = json!({
            "metadata": {"name": name, "namespace": "shop", "uid": uid},
            "spec": {
                "nodeName": node,
                "containers": [{"name": "app", "resources": {"requests": {"cpu": "3"}}}],
            },
        });
        let wire = serde_json::from_value::<core::Pod>(pod).unwrap();
        Arc::new(SeenPod::parse(&resource_of::<core::Pod>(), wire).unwrap())
    }

    /// What is to be done next: `bind u1 to a`, `explain u1`, or nothing.
    fn next(desk: &mut Desk, now: Timestamp) -> Value {
        match desk.next_task(now) {
            Some(Task::Bind { pod, node }) => json!(format!("bind {} to {node}", pod.pod.uid())),
            Some(Task::Explain { pod, .. }) => json!(format!("explain {}", pod.pod.uid())),
            None => Value::Null,
        }
    }

    #[test]
    fn a_pod_that_was_bound_is_not_bound_again_while_the_news_is_on_its_way() {
        let mut desk = desk();
        desk.see_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut desk, NOON), "bind u1 to a");
        desk.see_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut desk, NOON), Value::Null, "it is under way");
        desk.finish(&key("web"), "u1", Became::Bound, NOON);
        desk.see_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut desk, later(60)), Value::Null, "it is bound, whatever a late word says");
        desk.see_pod(&key("web"), Some(&pod("web", "u1", Some("a"))));
        assert_eq!(next(&mut desk, later(60)), Value::Null);
    }

    #[test]
    fn a_pod_counts_where_it_was_sent_until_that_failed() {
        let mut desk = desk();
        desk.see_pod(&key("web"), Some(&pod("web", "u1", None)));
        desk.see_pod(&key("db"), Some(&pod("db", "u2", None)));
        assert_eq!(next(&mut desk, NOON), "bind u1 to a");
        assert_eq!(next(&mut desk, NOON), "explain u2", "there is no room for both");
        desk.finish(&key("web"), "u1", Became::Failed, NOON);
        desk.finish(&key("db"), "u2", Became::Explained, NOON);
        assert_eq!(next(&mut desk, later(1)), "bind u1 to a", "it was first in line");
        desk.finish(&key("web"), "u1", Became::Bound, later(1));
        assert_eq!(next(&mut desk, later(1)), "explain u2", "room was free for a moment");
        desk.finish(&key("db"), "u2", Became::Explained, later(1));
        desk.see_pod(&key("web"), None);
        assert_eq!(next(&mut desk, later(60)), "bind u2 to a");
    }

    #[test]
    fn a_binding_whose_answer_was_lost_is_found_out() {
        let mut desk = desk();
        desk.see_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut desk, NOON), "bind u1 to a");
        desk.see_pod(&key("web"), Some(&pod("web", "u1", Some("a"))));
        desk.finish(&key("web"), "u1", Became::Failed, NOON);
        desk.see_pod(&key("db"), Some(&pod("db", "u2", None)));
        assert_eq!(next(&mut desk, later(60)), "explain u2", "the first one is there after all");
    }

    #[test]
    fn a_namesake_is_another_pod() {
        let mut desk = desk();
        desk.see_pod(&key("web"), Some(&pod("web", "u1", None)));
        assert_eq!(next(&mut desk, NOON), "bind u1 to a");
        desk.see_pod(&key("web"), Some(&pod("web", "u2", None)));
        assert_eq!(next(&mut desk, NOON), "bind u2 to a", "the room of the first is free again");
        desk.finish(&key("web"), "u1", Became::Gone, NOON);
        desk.finish(&key("web"), "u2", Became::Bound, NOON);
        assert_eq!(next(&mut desk, later(60)), Value::Null);
    }
}
