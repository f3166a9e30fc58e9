//! Readiness of a cluster: the API responds, the default service account exists, `admin`, `edit` and `view` have their
//! rules, every node is Ready.

use std::collections::BTreeSet;
use std::time::Duration;

use gantry_controllers::are_bootstrap_roles_aggregated;
use gantry_nodes::is_settled;
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::Client;
use kube::api::{Api, ListParams};

/// The polling period grows from the first of these to the second: polling must not slow a large cluster down.
const POLL_PERIODS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

pub(crate) struct Readiness {
    pub(crate) client: Client,
    /// Whether controllers run, which create the service account and aggregate roles.
    pub(crate) controllers: bool,
    /// The names of the nodes.
    pub(crate) nodes: BTreeSet<String>,
}

impl Readiness {
    /// Returns when the cluster is ready.
    pub(crate) async fn wait(&self) {
        let mut pause = POLL_PERIODS.0;
        // A failed request counts as not ready: the server may still be starting.
        while !self.is_ready().await.unwrap_or(false) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(POLL_PERIODS.1);
        }
    }

    async fn is_ready(&self) -> kube::Result<bool> {
        if self.controllers {
            let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), "default");
            if accounts.get_opt("default").await?.is_none() {
                return Ok(false);
            }
            let roles: Api<ClusterRole> = Api::all(self.client.clone());
            if !are_bootstrap_roles_aggregated(roles.list(&ListParams::default()).await?) {
                return Ok(false);
            }
        }
        if self.nodes.is_empty() {
            return self.client.apiserver_version().await.map(|_| true);
        }
        let nodes: Api<Node> = Api::all(self.client.clone());
        let listed = nodes.list(&ListParams::default()).await?;
        // A node that was made to fail before a restart is not waited for.
        let ready: BTreeSet<String> =
            listed.items.into_iter().filter(is_settled).filter_map(|node| node.metadata.name).collect();
        Ok(self.nodes.is_subset(&ready))
    }
}
