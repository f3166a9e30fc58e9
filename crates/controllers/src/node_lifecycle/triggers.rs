//! What wakes the controller: the clock, and nodes whose taints change.

use std::sync::Arc;
use std::time::Duration;

use gantry_runtime::informer::Change;
use tokio::sync::Notify;

use super::observe::Caches;

/// Rings when a node changed that pods may have to leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Bell(Arc<Notify>);

impl Bell {
    /// Returns when it rings, or after a while.
    pub(super) async fn wait(&self, at_most: Duration) {
        // Either way it is time to look.
        let _ = tokio::time::timeout(at_most, self.0.notified()).await;
    }
}

/// Rings the bell when the taints of a node are others.
pub(super) fn subscribe(caches: &Caches) -> Bell {
    let bell = Bell::default();
    let rung = bell.clone();
    caches.nodes.subscribe(move |change| {
        if let Change::Updated { old, new } = change {
            let taints =
                |node: &k8s_openapi::api::core::v1::Node| node.spec.clone().and_then(|spec| spec.taints);
            if taints(&old.wire) != taints(&new.wire) {
                rung.0.notify_one();
            }
        }
    });
    bell
}
