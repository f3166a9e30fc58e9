//! The triggers of a check: a timer, and changed taints of nodes.

use std::sync::Arc;
use std::time::Duration;

use gantry_runtime::informer::InformerEvent;
use tokio::sync::Notify;

use super::observe::Caches;

/// Notifies of a changed node whose pods may have to be evicted.
#[derive(Clone, Debug, Default)]
pub(super) struct TaintNotifier(Arc<Notify>);

impl TaintNotifier {
    /// Returns when notified, or after `at_most`.
    pub(super) async fn wait(&self, at_most: Duration) {
        // A timeout is not an error: the nodes are checked in either case.
        let _ = tokio::time::timeout(at_most, self.0.notified()).await;
    }
}

/// Notifies when the taints of a node change.
pub(super) fn subscribe(caches: &Caches) -> TaintNotifier {
    let notifier = TaintNotifier::default();
    let rung = notifier.clone();
    caches.nodes.subscribe(move |change| {
        if let InformerEvent::Updated { old, new } = change {
            let taints =
                |node: &k8s_openapi::api::core::v1::Node| node.spec.clone().and_then(|spec| spec.taints);
            if taints(&old.wire) != taints(&new.wire) {
                rung.0.notify_one();
            }
        }
    });
    notifier
}
