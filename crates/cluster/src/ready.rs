//! When a cluster is ready: the API answers, the default service account exists, every node is Ready.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use kube::Client;
use kube::api::{Api, ListParams};

/// The pause between two looks grows from the first of these to the second: a large cluster is not slowed down by looks.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// What is waited for.
pub(crate) struct Readiness {
    pub(crate) client: Client,
    /// Whether controllers run, which create the service account.
    pub(crate) controllers: bool,
    /// The names of the nodes.
    pub(crate) nodes: BTreeSet<String>,
}

impl Readiness {
    /// Returns when the cluster is ready.
    pub(crate) async fn wait(&self) {
        let mut pause = PAUSES.0;
        // A request that fails is one more reason to wait: the server starts while this asks.
        while !self.is_ready().await.unwrap_or(false) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn is_ready(&self) -> kube::Result<bool> {
        if self.controllers {
            let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), "default");
            if accounts.get_opt("default").await?.is_none() {
                return Ok(false);
            }
        }
        if self.nodes.is_empty() {
            return self.client.apiserver_version().await.map(|_| true);
        }
        let nodes: Api<Node> = Api::all(self.client.clone());
        let listed = nodes.list(&ListParams::default()).await?;
        let ready: BTreeSet<String> =
            listed.items.into_iter().filter(is_node_ready).filter_map(|node| node.metadata.name).collect();
        Ok(self.nodes.is_subset(&ready))
    }
}

/// Whether pods can be sent to a node.
fn is_node_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}
