//! The stages of a pod on the hollow kubelet, decided from the events of its watch.

use std::collections::HashMap;

use crate::objects::Pod;

/// The action for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodAction {
    /// Bind it to a node.
    Bind,
    /// Report it running and ready.
    ReportReady,
    /// Delete it for good.
    Delete,
}

/// The last action about each pod, by uid.
#[derive(Debug, Default)]
pub(super) struct PodStages {
    last: HashMap<String, PodAction>,
}

impl PodStages {
    /// Returns the action that an event requires; every action is returned once per pod.
    pub(super) fn observe(&mut self, is_deleted: bool, pod: &Pod) -> Option<PodAction> {
        let uid = &pod.metadata.uid;
        if is_deleted {
            self.last.remove(uid);
            return None;
        }
        let due = due_action(pod)?;
        if self.last.get(uid).is_some_and(|last| *last >= due) {
            return None;
        }
        self.last.insert(uid.clone(), due);
        Some(due)
    }
}

fn due_action(pod: &Pod) -> Option<PodAction> {
    if pod.metadata.deletion_timestamp.is_some() {
        return Some(PodAction::Delete);
    }
    match (pod.spec.node_name.as_str(), pod.status.phase.as_str()) {
        ("", _) => Some(PodAction::Bind),
        (_, "Pending" | "") => Some(PodAction::ReportReady),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Item;

    fn pod(node: &str, phase: &str) -> Pod {
        let mut pod = Pod::default();
        "u1".clone_into(&mut pod.metadata.uid);
        node.clone_into(&mut pod.spec.node_name);
        phase.clone_into(&mut pod.status.phase);
        pod
    }

    #[test]
    fn a_pod_is_bound_reported_and_deleted_once_each() {
        let mut stages = PodStages::default();
        let mut terminating = pod("n", "Running");
        terminating.metadata.deletion_timestamp = Some(Item {});
        let events = [
            (pod("", "Pending"), Some(PodAction::Bind)),
            (pod("", "Pending"), None),
            (pod("n", "Pending"), Some(PodAction::ReportReady)),
            (pod("n", "Pending"), None),
            (pod("n", "Running"), None),
            (terminating.clone(), Some(PodAction::Delete)),
            (terminating, None),
        ];
        for (pod, expected) in events {
            assert_eq!(stages.observe(false, &pod), expected, "{pod:?}");
        }
        assert_eq!(stages.observe(true, &pod("n", "Running")), None);
        assert!(stages.last.is_empty(), "deleted pods are removed");
    }
}
