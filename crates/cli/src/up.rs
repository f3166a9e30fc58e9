//! `gantry up`: a whole cluster in one process. Flags in, calls out.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gantry_apiserver::ApiService;
use gantry_controllers::Controller;
use gantry_nodes::behaviour::Profile;
use gantry_runtime::Metrics;

use crate::host::{self, Company, Host, Keeping, ServerFlags};
use crate::output::print;
use crate::paths;

/// The flags of `gantry up`.
#[derive(Debug, Args)]
pub(crate) struct UpFlags {
    /// Keep everything in this directory [default: gantry in your own data directory]
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "in_memory")]
    data_dir: Option<PathBuf>,
    /// Keep everything in memory, until it stops
    #[arg(long)]
    in_memory: bool,
    /// How many nodes to simulate; with 0 there is no scheduler either, and pods stay pending
    #[arg(long, value_name = "N", default_value_t = 3)]
    nodes: usize,
    /// A file that says how pods behave on the simulated nodes
    #[arg(long, value_name = "FILE")]
    sim_profile: Option<PathBuf>,
    #[command(flatten)]
    server: ServerFlags,
}

/// What to try where pods run.
const ROLLING: &str = "  kubectl rollout status deployment/web
  kubectl set image deployment/web nginx=nginx:broken   # this one gets stuck
  gantry why deployment/web                             # and this says why
  kubectl rollout undo deployment/web
";

/// What to try where nobody runs pods.
const PENDING: &str =
    "  kubectl get deployments,replicasets,pods   # pods stay pending: whoever tests sets their status
  gantry why deployment/web
";

/// Runs a cluster until it is told to stop.
pub(crate) fn run(flags: &UpFlags) -> ExitCode {
    host::run(flags.server.log_format, serve(flags))
}

async fn serve(flags: &UpFlags) -> Result<(), String> {
    let profile = flags.profile()?;
    let keeping = flags.keeping()?;
    let host = Host::open(&keeping, &flags.server).await?;
    let kubeconfig = flags.kubeconfig(&keeping)?;
    host.write_kubeconfig(&kubeconfig)?;
    let company = flags.company(&host, profile);
    let kubeconfig = std::path::absolute(&kubeconfig).unwrap_or(kubeconfig);
    // Nobody may be reading; the cluster runs all the same.
    print(&flags.welcome(&host.url(), &keeping, &kubeconfig.display().to_string()));
    host.serve(company).await
}

impl UpFlags {
    fn keeping(&self) -> Result<Keeping, String> {
        match &self.data_dir {
            _ if self.in_memory => Ok(Keeping::Memory),
            Some(directory) => Ok(Keeping::Directory(directory.clone())),
            None => paths::data_directory().map(Keeping::Directory),
        }
    }

    /// Gantry's own file, unless another is named: a person's own configuration is never touched unasked.
    fn kubeconfig(&self, keeping: &Keeping) -> Result<PathBuf, String> {
        match (&self.server.write_kubeconfig, keeping) {
            (Some(file), _) => Ok(file.clone()),
            (None, Keeping::Directory(directory)) => Ok(paths::kubeconfig(directory)),
            (None, Keeping::Memory | Keeping::Etcd(_)) => {
                paths::data_directory().map(|directory| paths::kubeconfig(&directory))
            }
        }
    }

    fn profile(&self) -> Result<Profile, String> {
        let Some(file) = &self.sim_profile else { return Ok(Profile::built_in()) };
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("--sim-profile: cannot read {name}: {error}"))?;
        Profile::read(&text).map_err(|error| format!("--sim-profile: {name}: {error}"))
    }

    /// Everybody but the server, each as a client of it without a socket in between.
    fn company(&self, host: &Host, profile: Profile) -> Company {
        let client =
            |name: &str| kube::Client::new(ApiService::for_master(host.server.clone(), name), "default");
        let metrics = Metrics::new();
        let mut company = Company::none();
        let mut options = gantry_controllers::Options {
            root_ca: host.authority.clone(),
            metrics: metrics.clone(),
            ..gantry_controllers::Options::default()
        };
        options.controllers.extend([Controller::ClaimProtection, Controller::VolumeProtection]);
        if self.nodes > 0 {
            options.controllers.insert(Controller::PodGc);
        }
        let signal = company.signal();
        company.join(
            "controllers",
            gantry_controllers::run(client("gantry-controllers"), options, signal.clone()),
        );
        if self.nodes > 0 {
            let scheduler = gantry_scheduler::Options::new(metrics.clone());
            let placing = gantry_scheduler::run(client("gantry-scheduler"), scheduler, signal.clone());
            company.join("scheduler", async {
                placing.await;
                Ok::<(), String>(())
            });
            let nodes = gantry_nodes::Options { profile, ..gantry_nodes::Options::new(self.nodes, metrics) };
            company.join("nodes", gantry_nodes::run(client("gantry-nodes"), nodes, signal));
        }
        company
    }

    fn welcome(&self, url: &str, keeping: &Keeping, kubeconfig: &str) -> String {
        let kept = match keeping {
            Keeping::Directory(directory) => format!("kept in {}", directory.display()),
            Keeping::Memory | Keeping::Etcd(_) => "kept in memory".to_owned(),
        };
        let nodes = match self.nodes {
            0 => "without nodes".to_owned(),
            1 => "with one simulated node".to_owned(),
            nodes => format!("with {nodes} simulated nodes"),
        };
        let rest = match self.nodes {
            0 => PENDING,
            _ => ROLLING,
        };
        format!(
            "The cluster is up at {url}, {nodes}, {kept}\n\nTry in another terminal:\n\n  \
             export KUBECONFIG={kubeconfig}\n  \
             kubectl create deployment web --image=nginx:1 --replicas=3\n{rest}\nCtrl-C stops it.\n"
        )
    }
}
