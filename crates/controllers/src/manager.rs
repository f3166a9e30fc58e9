//! Puts the chosen controllers together and runs them.

use std::fmt;

use gantry_runtime::{Api, Election, EventRecorder, Shutdown};
use tokio::task::JoinSet;

use crate::context::{Assembly, Context};
use crate::options::{Controller, Options};
use crate::{
    cluster_role_aggregation, deployment, disruption, endpoint_slices, endpoints, garbage_collector,
    namespace, node_lifecycle, pod_gc, replica_set, root_ca, service_account, storage_protection,
};

/// The name under which all writes are made.
const FIELD_MANAGER: &str = "gantry-controllers";

/// A part of the controllers panicked; what it was is in the log.
///
/// The others may wait for it for ever, so all of them were ended. The process should start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokeDown;

/// Runs controllers until it is time to end, and returns when all of it has ended.
///
/// With a lease, waits for its turn first. A lease that is lost ends the turn; the controllers start over when it is
/// their turn again, from nothing: what they remember of their own writes is only good as long as nobody else writes.
pub async fn run(client: kube::Client, options: Options, shutdown: Shutdown) -> Result<(), BrokeDown> {
    let api = Api::new(client, FIELD_MANAGER, options.metrics.clone());
    let Some(lease) = &options.election else { return lead(api, &options, shutdown).await };
    let election = Election {
        api: api.clone(),
        clock: options.clock.clone(),
        namespace: lease.namespace.as_str().into(),
        name: lease.name.as_str().into(),
        identity: lease.identity.clone(),
        timing: lease.timing,
    };
    let mut result = Ok(());
    loop {
        let turn = async |turn| result = lead(api.clone(), &options, turn).await;
        let is_over = election.run(&shutdown, turn).await;
        if is_over || result.is_err() {
            return result;
        }
    }
}

async fn lead(api: Api, options: &Options, shutdown: Shutdown) -> Result<(), BrokeDown> {
    let (events, writer) = EventRecorder::new(api.clone(), options.clock.clone());
    let context = Context {
        api: api.clone(),
        clock: options.clock.clone(),
        metrics: options.metrics.clone(),
        events,
        shutdown: shutdown.clone(),
        workers: options.workers,
    };
    let mut assembly = Assembly::new(context, options);
    for controller in &options.controllers {
        match controller {
            Controller::Deployment => deployment::assemble(&mut assembly),
            Controller::ReplicaSet => replica_set::assemble(&mut assembly),
            Controller::ReplicationController => replica_set::assemble_replication_controllers(&mut assembly),
            Controller::GarbageCollector => garbage_collector::assemble(&mut assembly),
            Controller::Namespace => namespace::assemble(&mut assembly),
            Controller::ServiceAccount => service_account::assemble(&mut assembly),
            Controller::RootCa => root_ca::assemble(&mut assembly),
            Controller::Disruption => disruption::assemble(&mut assembly),
            Controller::ClusterRoleAggregation => cluster_role_aggregation::assemble(&mut assembly),
            Controller::Endpoints => endpoints::assemble(&mut assembly),
            Controller::EndpointSlice => endpoint_slices::assemble(&mut assembly),
            Controller::PodGc => pod_gc::assemble(&mut assembly),
            Controller::NodeLifecycle => node_lifecycle::assemble(&mut assembly),
            Controller::ClaimProtection => storage_protection::assemble_claims(&mut assembly),
            Controller::VolumeProtection => storage_protection::assemble_volumes(&mut assembly),
        }
        tracing::debug!(%controller, "starting");
    }
    let (informers, runs) = assembly.finish();
    let mut tasks = JoinSet::new();
    tasks.spawn(writer.run(shutdown.clone()));
    informers.start(&mut tasks, &api, &shutdown);
    for run in runs {
        tasks.spawn(run);
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            if error.is_cancelled() {
                return Ok(()); // The process ends without waiting for its tasks.
            }
            tracing::error!(%error, "a part of the controllers broke down; this is a bug, please report it");
            tasks.shutdown().await;
            return Err(BrokeDown);
        }
    }
    Ok(())
}

impl fmt::Display for BrokeDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of the controllers broke down")
    }
}

impl std::error::Error for BrokeDown {}
