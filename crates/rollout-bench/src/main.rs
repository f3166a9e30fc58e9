//! Measures rollouts through the public API over TLS: Deployments are created, rolled, doubled and deleted by this process,
//! the pods are run by the server's own nodes or by a hollow kubelet in another process, and the cost of the server's
//! processes is read from `/proc` and `/metrics`. Started by `cargo xtask bench rollout`; never part of the product.

mod connection;
mod hollow;
mod load;
mod measure;
mod metrics;
mod objects;
mod plot;
mod probe;
mod processes;
mod progress;
mod report;
mod setup;
mod start;
mod workload;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use measure::Extent;
use processes::Process;
use setup::{Delays, Program, Setup};
use workload::Workload;

/// Measure what rollouts cost
#[derive(Debug, Parser)]
#[command(name = "rollout-bench")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(RunOptions),
    /// Measure how long a start takes, and the memory of an idle cluster
    Start {
        /// The binary that is measured
        #[arg(long, value_name = "FILE")]
        gantry: PathBuf,
        /// How often each kind of start is measured
        #[arg(long, value_name = "N", default_value_t = 5)]
        times: usize,
        /// Where the data of the clusters is kept meanwhile [default: the directory of temporary files]
        #[arg(long, value_name = "DIRECTORY")]
        directory: Option<PathBuf>,
    },
    /// Be a hollow kubelet: bind pods, report them ready at once, let terminating ones go
    Hollow {
        /// How the API server is reached
        #[arg(long)]
        kubeconfig: PathBuf,
        /// The number of nodes
        #[arg(long, default_value_t = 10)]
        nodes: usize,
    },
}

/// Create, roll, double and delete Deployments on `gantry up`, and report what each step costs
#[derive(Debug, Args)]
struct RunOptions {
    /// The binary that is measured
    #[arg(long, value_name = "FILE")]
    gantry: PathBuf,
    /// Run Gantry under callgrind, which writes its profile to this file: times mean nothing then, and one size and kubelet is
    /// measured
    #[arg(long, value_name = "FILE", conflicts_with = "kubernetes")]
    callgrind: Option<PathBuf>,
    /// How many pods; several numbers show how the cost grows
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "1000")]
    pods: Vec<usize>,
    /// The pods of each Deployment
    #[arg(long, value_name = "N", default_value_t = 10)]
    replicas: usize,
    /// The namespaces that the Deployments are in
    #[arg(long, value_name = "N", default_value_t = 10)]
    namespaces: usize,
    /// What runs the pods of Gantry
    #[arg(long, value_name = "KUBELETS", value_delimiter = ',', default_value = "hollow,nodes")]
    kubelet: Vec<Kubelet>,
    /// The nodes of `gantry up` per 1,000 pods, and at least
    #[arg(long, value_name = "N", default_value_t = 30)]
    nodes: usize,
    /// Let pods take time to be pulled, to start and to stop on these nodes, as they do by default
    #[arg(long)]
    delays: bool,
    /// A Kubernetes without nodes to compare with: kube-apiserver, etcd and kube-controller-manager, on this machine
    #[arg(long, value_name = "KUBECONFIG", requires = "pids")]
    kubernetes: Option<PathBuf>,
    /// The processes of that Kubernetes: NAME=PID, comma-separated
    #[arg(long, value_name = "PROCESSES", value_delimiter = ',', value_parser = Process::parse)]
    pids: Vec<Process>,
    /// Also delete namespaces with that many pods
    #[arg(long)]
    delete_namespaces: bool,
    /// How long to leave the cluster alone after the last step before its memory is read again
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    rest: u64,
    /// Also list the requests per pod by verb and resource
    #[arg(long)]
    requests: bool,
    /// Write the numbers as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the number of ready pods over time
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Where the data of the clusters is kept meanwhile [default: the directory of temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

/// What runs the pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kubelet {
    /// A process that binds pods and reports them ready at once
    Hollow,
    /// Gantry's own scheduler and nodes
    Nodes,
}

fn main() -> ExitCode {
    let command = CommandLine::parse().command;
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
        .and_then(|runtime| {
            runtime.block_on(async {
                match command {
                    Command::Run(options) => run(&options).await,
                    Command::Start { gantry, times, directory } => {
                        let gantry = Program { gantry, callgrind: None };
                        start::run(&gantry, &directory.unwrap_or_else(std::env::temp_dir), times).await
                    }
                    Command::Hollow { kubeconfig, nodes } => hollow::run(&kubeconfig, nodes.max(1)).await,
                }
            })
        });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &RunOptions) -> Result<(), String> {
    let parent = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let extent = Extent { namespaces: options.delete_namespaces, rest: Duration::from_secs(options.rest) };
    let mut runs = Vec::new();
    for pods in &options.pods {
        let workload = options.workload(*pods);
        for setup in options.setups(*pods) {
            let Workload { deployments, replicas, .. } = workload;
            say(&format!("== {}: {deployments} Deployments × {replicas} pods", setup.title()));
            let run = measure::measure(&setup, workload, extent, &parent).await?;
            say(&report::table(&run));
            if options.requests {
                say(&report::requests(&run));
            }
            runs.push(run);
        }
    }
    say(&report::comparison(&runs));
    write(options.json.as_ref(), || report::json(&runs))?;
    write(options.svg.as_ref(), || plot::svg(&runs))
}

impl RunOptions {
    fn workload(&self, pods: usize) -> Workload {
        let replicas = self.replicas.max(1);
        Workload { deployments: (pods / replicas).max(1), replicas, namespaces: self.namespaces.max(1) }
    }

    /// The clusters to measure, Kubernetes last.
    fn setups(&self, pods: usize) -> Vec<Setup> {
        let gantry = || Program { gantry: self.gantry.clone(), callgrind: self.callgrind.clone() };
        let own = self.kubelet.iter().map(|kubelet| match kubelet {
            Kubelet::Hollow => Setup::Hollow { gantry: gantry() },
            Kubelet::Nodes => Setup::Nodes {
                gantry: gantry(),
                nodes: self.nodes * pods.div_ceil(1000).max(1),
                delays: if self.delays { Delays::BuiltIn } else { Delays::None },
            },
        });
        let given = self
            .kubernetes
            .iter()
            .map(|kubeconfig| Setup::Given { kubeconfig: kubeconfig.clone(), processes: self.pids.clone() });
        own.chain(given).collect()
    }
}

fn write(file: Option<&PathBuf>, text: impl Fn() -> String) -> Result<(), String> {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, text()).map_err(|error| format!("{}: {error}", file.display()))
}

/// Prints a line; a closed output is no reason to stop.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Prints an error.
fn complain(error: &str) {
    let _ = writeln!(std::io::stderr(), "error: {error}");
}
