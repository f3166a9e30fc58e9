//! Deletes orphaned pods.

use std::collections::BTreeMap;

use gantry_json::Value;
use gantry_model::{Name, Pod, RefusalKind};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{DeleteParams, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::PodGc;
use super::observe::OrphanedPod;

impl PodGc {
    /// Deletes pods without a grace period, after a live read of their nodes.
    pub(super) async fn delete(&self, orphaned: Vec<OrphanedPod>) {
        let mut gone: BTreeMap<Name, bool> = BTreeMap::new();
        for orphaned in orphaned {
            if let Some(node) = &orphaned.node {
                let is_gone = match gone.get(node) {
                    Some(is_gone) => *is_gone,
                    None => self.is_gone(node).await,
                };
                gone.insert(node.clone(), is_gone);
                if !is_gone {
                    continue;
                }
            }
            let target =
                ResourcePath::object(&Pod::resource(), Some(&orphaned.pod.namespace), &orphaned.pod.name);
            let deletion =
                DeleteParams { uid: Some(orphaned.uid), grace_seconds: Some(0), ..DeleteParams::default() };
            match self.context.api.delete(&target, &deletion).await {
                Err(failure) if failure.kind() != RefusalKind::NotFound => {
                    tracing::warn!(pod = %orphaned.pod, %failure, "a pod without a node could not be deleted");
                }
                Ok(()) | Err(_) => tracing::info!(pod = %orphaned.pod, "a pod without a node was deleted"),
            }
        }
    }

    /// Whether a live read finds no such node. A failed read counts as found.
    async fn is_gone(&self, node: &Name) -> bool {
        let target = ResourcePath::object(&Plain::<core::Node>::resource(), None, node);
        matches!(self.context.api.get::<Value>(&target).await, Err(failure) if failure.kind() == RefusalKind::NotFound)
    }
}
