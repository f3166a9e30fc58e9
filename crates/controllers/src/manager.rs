//! Starts the selected controllers and runs them.

use std::fmt;

use futures::future::BoxFuture;
use gantry_runtime::{Api, ApiTransport, Election, EventRecorder, Shutdown};
use tokio::task::JoinSet;

use crate::context::{Assembly, Context};
use crate::options::{Controller, Options};
use crate::{
    bootstrap_tokens, certificates, cluster_role_aggregation, deployment, disruption,
    endpoint_slice_mirroring, endpoint_slices, endpoints, garbage_collector, namespace, node_lifecycle,
    pod_gc, replica_set, root_ca, service_account, storage_protection,
};

/// The field manager of all writes.
const FIELD_MANAGER: &str = "gantry-controllers";

/// A task of the controllers panicked; the log has the details.
///
/// Other tasks may wait for it without end, so all of them were stopped. The process should restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerPanicked;

/// Runs controllers until shutdown, and returns when all tasks have ended.
///
/// With a lease, it waits for leadership first. When the lease is lost the controllers stop; they start with empty
/// state when it is acquired again, because another process may have written meanwhile. While the lease may have expired,
/// nothing is written.
///
/// The future is boxed so that it is compiled here, not in each crate that awaits it.
pub fn run(
    transport: ApiTransport,
    options: Options,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<(), ControllerPanicked>> {
    Box::pin(run_elected(transport, options, shutdown))
}

async fn run_elected(
    transport: ApiTransport,
    options: Options,
    shutdown: Shutdown,
) -> Result<(), ControllerPanicked> {
    let api = Api::new(transport, FIELD_MANAGER, options.metrics.clone());
    let Some(lease) = &options.election else { return lead(api, &options, shutdown).await };
    let election = Election {
        api: api.clone(),
        clock: options.clock.clone(),
        namespace: lease.namespace.as_str().into(),
        name: lease.name.as_str().into(),
        identity: lease.identity.clone(),
        timing: lease.timing,
        fence: options.fence(),
    };
    let mut result = Ok(());
    loop {
        let fenced = api.clone().with_fence(election.fence.clone());
        let turn = async |turn| result = lead(fenced, &options, turn).await;
        let is_over = election.run(&shutdown, turn).await;
        if is_over || result.is_err() {
            return result;
        }
    }
}

async fn lead(api: Api, options: &Options, shutdown: Shutdown) -> Result<(), ControllerPanicked> {
    let (events, writer) = EventRecorder::new(api.clone(), options.clock.clone());
    let events = events.with_normal_events(options.normal_events);
    let context = Context {
        api: api.clone(),
        clock: options.clock.clone(),
        metrics: options.metrics.clone(),
        events,
        shutdown: shutdown.clone(),
        workers: options.workers,
    };
    let informers = options.informers.clone().unwrap_or_default();
    let mut runs = Vec::new();
    for controller in &options.controllers {
        let mut assembly = Assembly::new(context.clone(), options, &informers, &mut runs);
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
            Controller::EndpointSliceMirroring => endpoint_slice_mirroring::assemble(&mut assembly),
            Controller::PodGc => pod_gc::assemble(&mut assembly),
            Controller::NodeLifecycle => node_lifecycle::assemble(&mut assembly),
            Controller::ClaimProtection => storage_protection::assemble_claims(&mut assembly),
            Controller::VolumeProtection => storage_protection::assemble_volumes(&mut assembly),
            Controller::AttributesClassProtection => {
                storage_protection::assemble_attributes_classes(&mut assembly);
            }
            Controller::CertificateApproving => certificates::assemble_approving(&mut assembly),
            Controller::CertificateSigning => certificates::assemble_signing(&mut assembly),
            Controller::CertificateCleaner => certificates::assemble_cleaner(&mut assembly),
            Controller::TokenCleaner => bootstrap_tokens::assemble_cleaner(&mut assembly),
            Controller::BootstrapSigner => bootstrap_tokens::assemble_signer(&mut assembly),
        }
        tracing::debug!(%controller, "starting");
    }
    let mut tasks = JoinSet::new();
    tasks.spawn(writer.run(shutdown.clone()));
    informers.start(&mut tasks, &api, &options.clock, &shutdown);
    for run in runs {
        tasks.spawn(run);
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            if error.is_cancelled() {
                return Ok(()); // The process ends without waiting for its tasks.
            }
            tracing::error!(%error, "a controller panicked; this is a bug, please report it");
            tasks.shutdown().await;
            return Err(ControllerPanicked);
        }
    }
    Ok(())
}

impl fmt::Display for ControllerPanicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a controller panicked")
    }
}

impl std::error::Error for ControllerPanicked {}
