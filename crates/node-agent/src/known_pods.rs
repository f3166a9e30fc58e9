//! The sandboxes and containers of the agent's pods, and the reports about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gantry_model::ObjectKey;
use gantry_nodes::pod_lifecycle::{ContainerAmounts, RuntimeReport};

/// The pods of the node by their uid.
#[derive(Debug, Default)]
pub(crate) struct KnownPods(Mutex<BTreeMap<String, KnownPod>>);

/// One pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownPod {
    pub(crate) key: Option<ObjectKey>,
    /// The ID of its sandbox.
    pub(crate) sandbox: Option<String>,
    pub(crate) ips: Vec<String>,
    /// The ID of the latest container of each name.
    pub(crate) containers: BTreeMap<String, String>,
    /// The requests and limits that containers were started with or changed to.
    pub(crate) amounts: BTreeMap<String, ContainerAmounts>,
    /// The containers whose exit was handled.
    pub(crate) handled_exits: BTreeSet<String>,
    /// Whether its volumes are mounted, so that they are kept up to date.
    pub(crate) is_mounted: bool,
    pub(crate) reports: Vec<RuntimeReport>,
}

impl KnownPod {
    /// Records that the exit of a container was handled, and forgets those of containers that are not the latest any
    /// more.
    pub(crate) fn handle_exit(&mut self, id: String) {
        let latest = &self.containers;
        self.handled_exits.retain(|handled| latest.values().any(|id| handled.ends_with(id.as_str())));
        self.handled_exits.insert(id);
    }
}

impl KnownPods {
    /// Adds a pod.
    pub(crate) fn insert(&self, uid: &str, pod: KnownPod) {
        self.pods().insert(uid.to_owned(), pod);
    }

    /// Removes a pod.
    pub(crate) fn remove(&self, uid: &str) {
        self.pods().remove(uid);
    }

    /// Returns a pod.
    pub(crate) fn get(&self, uid: &str) -> Option<KnownPod> {
        self.pods().get(uid).cloned()
    }

    /// Whether this pod is known.
    pub(crate) fn is_known(&self, uid: &str) -> bool {
        self.pods().contains_key(uid)
    }

    /// Returns all pods.
    pub(crate) fn all(&self) -> BTreeMap<String, KnownPod> {
        self.pods().clone()
    }

    /// Changes a pod, if it is still known.
    pub(crate) fn change(&self, uid: &str, change: impl FnOnce(&mut KnownPod)) {
        if let Some(pod) = self.pods().get_mut(uid) {
            change(pod);
        }
    }

    /// Adds a report; returns the key to enqueue.
    pub(crate) fn report(&self, uid: &str, report: RuntimeReport) -> Option<ObjectKey> {
        let mut pods = self.pods();
        let pod = pods.get_mut(uid)?;
        pod.reports.push(report);
        pod.key.clone()
    }

    /// Takes the reports of a pod.
    pub(crate) fn take_reports(&self, uid: &str) -> Vec<RuntimeReport> {
        self.pods().get_mut(uid).map(|pod| std::mem::take(&mut pod.reports)).unwrap_or_default()
    }

    fn pods(&self) -> MutexGuard<'_, BTreeMap<String, KnownPod>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
