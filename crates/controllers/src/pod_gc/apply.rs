//! Giving pods up.

use std::collections::BTreeMap;

use gantry_model::{Name, Pod, RefusalKind};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{Deletion, Target};
use k8s_openapi::api::core::v1 as core;
use serde_json::Value;

use super::PodGc;
use super::observe::Lost;

impl PodGc {
    /// Deletes pods at once, after one last look for the nodes they were on.
    pub(super) async fn delete(&self, lost: Vec<Lost>) {
        let mut gone: BTreeMap<Name, bool> = BTreeMap::new();
        for lost in lost {
            if let Some(node) = &lost.node {
                let is_gone = match gone.get(node) {
                    Some(is_gone) => *is_gone,
                    None => self.is_gone(node).await,
                };
                gone.insert(node.clone(), is_gone);
                if !is_gone {
                    continue;
                }
            }
            let target = Target::object(&Pod::resource(), Some(&lost.pod.namespace), &lost.pod.name);
            let deletion = Deletion { uid: Some(lost.uid), grace_seconds: Some(0), ..Deletion::default() };
            match self.context.api.delete(&target, &deletion).await {
                Err(failure) if failure.kind() != RefusalKind::NotFound => {
                    tracing::warn!(pod = %lost.pod, %failure, "a pod without a node could not be deleted");
                }
                Ok(()) | Err(_) => tracing::info!(pod = %lost.pod, "deleted: no node will end it"),
            }
        }
    }

    /// Whether there is no such node, past the cache. If nobody can say, there is.
    async fn is_gone(&self, node: &Name) -> bool {
        let target = Target::object(&Plain::<core::Node>::resource(), None, node);
        matches!(self.context.api.get::<Value>(&target).await, Err(failure) if failure.kind() == RefusalKind::NotFound)
    }
}
