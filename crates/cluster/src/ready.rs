//! Readiness of a cluster: the API responds, the default service account exists, `admin`, `edit` and `view` have their
//! rules, every node is Ready.

use std::collections::BTreeSet;
use std::time::Duration;

use gantry_controllers::are_bootstrap_roles_aggregated;
use gantry_nodes::is_settled;
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, Form, ObjectList, RequestError, ResourcePath};
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apimachinery::pkg::version::Info;

/// The polling period grows from the first of these to the second, so that polling does not slow a large cluster down.
const POLL_PERIODS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

pub(crate) struct Readiness {
    pub(crate) api: Api,
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

    async fn is_ready(&self) -> Result<bool, RequestError> {
        if self.controllers {
            let accounts = resource_of::<ServiceAccount>();
            let account = ResourcePath::object(&accounts, Some(&"default".into()), &"default".into());
            // Not found is an error like any other.
            self.api.get::<ServiceAccount>(&account).await?;
            let roles = ResourcePath::collection(&resource_of::<ClusterRole>(), None);
            let roles: ObjectList<ClusterRole> = self.api.list(&roles, Form::Whole, &[]).await?;
            if !are_bootstrap_roles_aggregated(roles.items) {
                return Ok(false);
            }
        }
        if self.nodes.is_empty() {
            return self.api.get::<Info>(&ResourcePath::path("/version")).await.map(|_| true);
        }
        let nodes = ResourcePath::collection(&resource_of::<Node>(), None);
        let nodes: ObjectList<Node> = self.api.list(&nodes, Form::Whole, &[]).await?;
        // A node that was made to fail before a restart is not waited for.
        let settled = nodes.items.into_iter().filter(is_settled);
        let ready: BTreeSet<String> = settled.filter_map(|node| node.metadata.name).collect();
        Ok(self.nodes.is_subset(&ready))
    }
}
