//! `gantry controllers`: runs the controllers only, against any cluster.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use gantry_certificates::RequestSigner;
use gantry_client::{ApiTransport, ClientConfig, WriteFence};
use gantry_controllers::{ClusterSigner, Controller, LeaseOptions, Options, Repairs, Workers};
use gantry_json::Value;
use gantry_runtime::{ResourcePath, Tasks, Timing};

use crate::cluster::{Cluster, ConnectionFlags, without_label};
use crate::kubectl::duration;
use crate::server_process::{self, LogFormat, Signals, Verbosity};

mod endpoint;

/// The controllers that run by default if there is an authority that signs.
const SIGNING: [Controller; 3] =
    [Controller::CertificateApproving, Controller::CertificateSigning, Controller::CertificateCleaner];

/// The flags of `gantry controllers`; those of kube-controller-manager have its names.
#[derive(Debug, Args)]
pub(crate) struct ControllersFlags {
    /// The controllers to run [default: those that need neither an API server nor nodes of Gantry]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    controllers: Vec<Controller>,
    /// Elect a leader among several processes by a Lease
    #[arg(long)]
    leader_elect: bool,
    /// The namespace of the lease
    #[arg(long, value_name = "NAMESPACE", default_value = "kube-system")]
    leader_elect_resource_namespace: String,
    /// The name of the lease; kube-controller-manager's own is `kube-controller-manager`
    #[arg(long, value_name = "NAME", default_value = "gantry-controllers")]
    leader_elect_resource_name: String,
    /// The number of Deployments to sync concurrently
    #[arg(long, value_name = "N", default_value_t = Workers::default().deployment)]
    concurrent_deployment_syncs: usize,
    /// The number of ReplicaSets to sync concurrently
    #[arg(long, value_name = "N", default_value_t = Workers::default().replica_set)]
    concurrent_replicaset_syncs: usize,
    /// The number of ReplicationControllers to sync concurrently
    #[arg(long, value_name = "N", default_value_t = Workers::default().replication_controller)]
    concurrent_rc_syncs: usize,
    /// The number of garbage collector workers
    #[arg(long, value_name = "N", default_value_t = Workers::default().garbage_collector)]
    concurrent_gc_syncs: usize,
    /// The number of namespaces to sync concurrently
    #[arg(long, value_name = "N", default_value_t = Workers::default().namespace)]
    concurrent_namespace_syncs: usize,
    /// Repair these defects of Kubernetes, comma-separated: all, size-annotation, recreate-scaling, undo-deadline
    #[arg(long, value_name = "NAMES")]
    repair: Option<Repairs>,
    /// The CA certificate file published in each namespace as `kube-root-ca.crt` [default: that of the kubeconfig]
    #[arg(long, value_name = "FILE")]
    root_ca_file: Option<PathBuf>,
    /// The CA certificate file with which requests for certificates are signed; approves and signs those of nodes
    #[arg(long, value_name = "FILE", requires = "cluster_signing_key_file")]
    cluster_signing_cert_file: Option<PathBuf>,
    /// The key of --cluster-signing-cert-file
    #[arg(long, value_name = "FILE", requires = "cluster_signing_cert_file")]
    cluster_signing_key_file: Option<PathBuf>,
    /// The lifetime of signed certificates, unless a request has a shorter one
    #[arg(long, value_name = "DURATION", default_value = "8760h", value_parser = duration)]
    cluster_signing_duration: Duration,
    /// The address for /healthz and /metrics, over plain HTTP
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10257")]
    bind_address: SocketAddr,
    /// The format of the log, which is written to standard error
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
    #[command(flatten)]
    cluster: Box<ConnectionFlags>,
}

/// Runs the controllers until the process receives a signal.
pub(crate) fn run(flags: &ControllersFlags) -> ExitCode {
    server_process::run_clients(flags.log_format, Verbosity::Info, control(flags))
}

async fn control(flags: &ControllersFlags) -> Result<ExitCode, String> {
    let mut signals = Signals::new()?;
    let config = flags.cluster.config_or_message().await?;
    let mut options = flags.options(&config)?;
    let metrics = options.metrics.clone();
    let cluster = Cluster::open(&config).map_err(|failure| without_label(&failure))?;
    let transport = transport(&config, &cluster, &mut options)?;
    let version: Value = cluster
        .api
        .get(&ResourcePath::path("/version"))
        .await
        .map_err(|error| without_label(&cluster.failure(error)))?;
    let version = version["gitVersion"].as_str().unwrap_or_default();
    tracing::info!(server = cluster.server(), version, "connected");
    let mut tasks = Tasks::new();
    let signal = tasks.signal();
    tasks.spawn("--bind-address", endpoint::serve(flags.bind_address, metrics, signal.clone()).await?);
    tasks.spawn("controllers", gantry_controllers::run(transport, options, signal));
    let outcome = tokio::select! {
        () = signals.wait() => Ok(ExitCode::SUCCESS),
        failed = tasks.failed() => Err(failed),
    };
    tracing::info!("stopping");
    signals.until_second(tasks.end()).await;
    outcome
}

/// The transport of the controllers. With leader election, its connections are behind the fence of the lease.
fn transport(
    config: &ClientConfig,
    cluster: &Cluster,
    options: &mut Options,
) -> Result<ApiTransport, String> {
    if options.election.is_none() {
        return Ok(cluster.transport.clone());
    }
    let clock = options.clock.clone();
    let fence = WriteFence::new(move || clock.since_boot());
    options.fence = Some(fence.clone());
    ApiTransport::connect_fenced(config, &fence).map_err(|error| error.to_string())
}

impl ControllersFlags {
    fn options(&self, config: &ClientConfig) -> Result<Options, String> {
        let mut options = Options {
            workers: self.workers(),
            repairs: self.repair.unwrap_or_default(),
            root_ca: self.root_ca(config)?,
            signer: self.signer()?,
            ..Options::default()
        };
        if !self.controllers.is_empty() {
            options.controllers = self.controllers.iter().copied().collect::<BTreeSet<_>>();
        } else if options.signer.is_some() {
            options.controllers.extend(SIGNING);
        }
        if options.signer.is_none() && options.controllers.contains(&Controller::CertificateSigning) {
            let name = Controller::CertificateSigning;
            return Err(format!(
                "--controllers: {name} needs the authority that signs: give --cluster-signing-cert-file and \
                 --cluster-signing-key-file"
            ));
        }
        if options.root_ca.is_none() && options.controllers.remove(&Controller::RootCa) {
            tracing::warn!("no root CA certificate: {} is disabled", Controller::RootCa);
        }
        options.election = self.leader_elect.then(|| LeaseOptions {
            namespace: self.leader_elect_resource_namespace.clone(),
            name: self.leader_elect_resource_name.clone(),
            identity: identity(),
            timing: Timing::default(),
        });
        Ok(options)
    }

    fn workers(&self) -> Workers {
        Workers {
            deployment: self.concurrent_deployment_syncs,
            replica_set: self.concurrent_replicaset_syncs,
            replication_controller: self.concurrent_rc_syncs,
            garbage_collector: self.concurrent_gc_syncs,
            namespace: self.concurrent_namespace_syncs,
        }
    }

    /// The authority that signs requests for certificates, if there is one.
    fn signer(&self) -> Result<Option<ClusterSigner>, String> {
        let (Some(certificate), Some(key)) =
            (&self.cluster_signing_cert_file, &self.cluster_signing_key_file)
        else {
            return Ok(None);
        };
        let read = |flag: &str, file: &Path| {
            std::fs::read_to_string(file)
                .map_err(|error| format!("--{flag}: cannot read {}: {error}", file.display()))
        };
        let certificate_text = read("cluster-signing-cert-file", certificate)?;
        let key_text = read("cluster-signing-key-file", key)?;
        let authority = RequestSigner::new(&certificate_text, &key_text).map_err(|why| {
            format!(
                "--cluster-signing-cert-file {}, --cluster-signing-key-file {}: {why}",
                certificate.display(),
                key.display()
            )
        })?;
        Ok(Some(ClusterSigner { authority: Arc::new(authority), longest: self.cluster_signing_duration }))
    }

    fn root_ca(&self, config: &ClientConfig) -> Result<Option<String>, String> {
        match &self.root_ca_file {
            Some(file) => std::fs::read_to_string(file)
                .map(Some)
                .map_err(|error| format!("--root-ca-file: cannot read {}: {error}", file.display())),
            None => Ok(config.trust.certificate_authorities().map(str::to_owned)),
        }
    }
}

/// The identity in leader election: the host name and a uuid.
fn identity() -> String {
    use gantry_apiserver::Environment as _;
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}_{}", machine.trim(), gantry_serving::SystemEnvironment.uid())
}
