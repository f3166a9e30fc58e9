//! Registers the node, renews its lease and reports its conditions.

use std::sync::Arc;
use std::time::Duration;

use gantry_cri::Runtime;
use gantry_json::{Value, json};
use gantry_model::patch::PatchForm;
use gantry_model::{Timestamp, Uid};
use gantry_nodes::NodeHealth;
use gantry_nodes::lease::{self, RENEW_EVERY, REPORT_EVERY};
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, Clock, NoneIf as _, RequestError, ResourcePath, Shutdown};
use k8s_openapi::api::core::v1 as core;

use crate::eviction::Evictions;
use crate::node_object::{NodeFacts, readiness_problem};

/// How often the state of the runtime is requested.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// The registration of a node.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) runtime: Runtime,
    pub(crate) facts: Arc<NodeFacts>,
    pub(crate) evictions: Arc<Evictions>,
}

/// The last report, and when the next heartbeats are due.
#[derive(Debug)]
struct Heartbeat {
    lease: Option<Value>,
    renew_at: Timestamp,
    report_at: Timestamp,
    health: NodeHealth,
    is_registered: bool,
}

impl Registration {
    /// Registers the node and sends heartbeats until shutdown.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        let mut heartbeat = Heartbeat {
            lease: None,
            renew_at: Timestamp::EPOCH,
            report_at: Timestamp::EPOCH,
            health: NodeHealth::default(),
            is_registered: false,
        };
        loop {
            if let Err(failure) = self.beat(&mut heartbeat).await {
                tracing::warn!(node = %self.facts.name, %failure, "cannot send the heartbeat of the node, retrying");
                // After a conflict, or if the lease was deleted.
                heartbeat.lease = None;
            }
            tokio::select! {
                () = shutdown.wait() => return,
                () = tokio::time::sleep(if heartbeat.is_registered { CHECK_EVERY } else { Duration::from_secs(1) }) => {}
            }
        }
    }

    async fn beat(&self, heartbeat: &mut Heartbeat) -> Result<(), RequestError> {
        let problem = match self.runtime.conditions().await {
            Ok(conditions) => readiness_problem(&conditions),
            Err(error) => Some(format!("container runtime is down: {error}")),
        };
        let health = NodeHealth { problem, pressures: self.evictions.conditions() };
        let target = self.target();
        let node = self.api.get::<core::Node>(&target).await.none_if_absent()?;
        let steady = self.clock.steady();
        let node = if let Some(node) = node {
            let is_changed =
                heartbeat.health != health || gantry_nodes::is_ready(&node) != health.problem.is_none();
            if !heartbeat.is_registered || is_changed || heartbeat.report_at <= steady {
                self.report(&node, &health, !heartbeat.is_registered).await?;
                heartbeat.report_at = steady.plus(REPORT_EVERY);
            }
            node
        } else {
            heartbeat.report_at = steady.plus(REPORT_EVERY);
            self.create(&health).await?
        };
        if health.problem.is_none()
            && let Some(kept) = gantry_nodes::taints_without_not_ready(&node)
        {
            match self.patch(&target, &json!({"spec": {"taints": kept}})).await {
                // A node that joined with a token is not permitted to: the node lifecycle controller of the cluster
                // does it.
                Err(failure) if failure.lacks_permission() => {}
                other => other?,
            }
        }
        heartbeat.health = health;
        heartbeat.is_registered = true;
        if heartbeat.renew_at <= steady {
            let uid = Uid::from(node.metadata.uid.unwrap_or_default());
            let known = heartbeat.lease.take();
            let renewed = lease::renew(&self.api, &self.facts.name, &uid, known, self.clock.now()).await?;
            heartbeat.lease = Some(renewed);
            heartbeat.renew_at = steady.plus(RENEW_EVERY);
        }
        Ok(())
    }

    async fn create(&self, health: &NodeHealth) -> Result<core::Node, RequestError> {
        let images = self.runtime.images().await.unwrap_or_default();
        let object = self.facts.object(health, &images, self.clock.now());
        let nodes = ResourcePath::collection(&resource_of::<core::Node>(), None);
        self.api.create(&nodes, &object).await
    }

    async fn report(
        &self,
        node: &core::Node,
        health: &NodeHealth,
        is_first: bool,
    ) -> Result<(), RequestError> {
        if is_first {
            self.patch(&self.target(), &json!({"metadata": {"labels": self.facts.labels()}})).await?;
        }
        let images = self.runtime.images().await.unwrap_or_default();
        let status = self.facts.status(node.status.as_ref(), health, &images, self.clock.now());
        self.patch(&self.target().part("status"), &json!({"status": status})).await
    }

    async fn patch(&self, target: &ResourcePath, body: &Value) -> Result<(), RequestError> {
        self.api.patch::<Value>(target, PatchForm::StrategicMerge, body).await.map(drop)
    }

    fn target(&self) -> ResourcePath {
        ResourcePath::object(&resource_of::<core::Node>(), None, &self.facts.name.as_str().into())
    }
}
