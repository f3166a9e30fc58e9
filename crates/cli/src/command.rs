//! The commands of the binary.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::apiserver::{self, ApiserverFlags};
use crate::argv;
use crate::cluster::ClusterFlags;
use crate::clusters::{self, ClustersFlags, DeleteClusterFlags, DownFlags};
use crate::completion::{self, Shell};
use crate::controllers::{self, ControllersFlags};
use crate::kubectl::Verb;
use crate::node::{self, NodeFlags};
use crate::output::{fail, print};
use crate::plan::{self, PlanFlags};
use crate::rollout::RolloutCommand;
use crate::simulate;
use crate::store::StoreCommand;
use crate::token::TokenCommand;
use crate::up::{self, UpFlags};
use crate::usage_error;
use crate::why::{self, WhyFlags};

/// Kubernetes Deployments in one binary
#[derive(Debug, Parser)]
#[command(name = "gantry", version, arg_required_else_help = true, after_help = EXAMPLE)]
pub(crate) struct Gantry {
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a cluster on this machine
    ///
    /// Runs a store, the Kubernetes API, the controllers, a scheduler and simulated nodes in one process. It starts in
    /// under a second, a restart on the same data continues where it stopped, and kubectl, Helm and client libraries work
    /// unchanged.
    ///
    /// Each cluster has a name, a data directory, a port and a kubeconfig. With a command after `--`, the cluster exists
    /// for that command only: in memory, on a free port, and removed when the command exits.
    #[command(
        verbatim_doc_comment,
        after_help = UP_EXAMPLE,
        mut_arg("listen", |arg| arg.help(UP_LISTEN))
    )]
    Up(#[command(flatten)] Box<UpFlags>),
    /// List the clusters on this machine
    #[command(after_help = CLUSTERS_EXAMPLE)]
    Clusters(#[command(flatten)] ClustersFlags),
    /// Stop a cluster, and wait until it has stopped
    ///
    /// Its data is kept, and `gantry up` starts it again. A cluster in memory is removed.
    #[command(verbatim_doc_comment, after_help = "Example:\n  gantry down\n  gantry down dev")]
    Down(#[command(flatten)] DownFlags),
    /// Delete a cluster of this machine and its data, after confirmation
    #[command(
        after_help = "Example:\n  gantry delete-cluster dev\n  gantry delete-cluster dev --force --yes"
    )]
    DeleteCluster(#[command(flatten)] DeleteClusterFlags),
    /// Run the controllers against any cluster
    ///
    /// They replace those of kube-controller-manager: Deployments, ReplicaSets, garbage collection and what Deployments
    /// need besides. See docs/switching.md for how to switch a cluster over, and back.
    #[command(
        verbatim_doc_comment,
        after_help = CONTROLLERS_EXAMPLE,
        mut_arg("kubeconfig", |arg| arg.help(
            "The kubeconfig to use [default: $KUBECONFIG, ~/.kube/config, or the service account of the pod]"
        ))
    )]
    Controllers(#[command(flatten)] ControllersFlags),
    /// Run this machine as a node with real pods
    ///
    /// Runs the pods that are scheduled to this machine with its container runtime, as a kubelet does, for any cluster. When
    /// it stops, containers keep running, and the next start continues with them. See docs/real-pods.md.
    ///
    /// With --ca-cert-hash, --server and --token the machine joins the cluster: it requests a certificate, keeps it in --root-dir
    /// and renews it. `gantry token create` prints the command; afterwards `gantry node` without these flags continues.
    #[command(verbatim_doc_comment, after_help = NODE_EXAMPLE)]
    Node(#[command(flatten)] NodeFlags),
    /// Manage the tokens with which nodes join a cluster
    #[command(subcommand, after_help = "Example:\n  gantry token create\n  gantry token list")]
    Token(TokenCommand),
    /// Run the API server only
    ///
    /// It is compatible with kube-apiserver: kubectl, client libraries and controllers work unchanged. It serves on
    /// loopback over TLS, with certificates that it creates at the first start, and stops on SIGTERM. Acknowledged writes
    /// are durable, also if it crashes.
    #[command(verbatim_doc_comment, after_help = APISERVER_EXAMPLE)]
    Apiserver(#[command(flatten)] ApiserverFlags),
    /// Explain the state of a rollout
    ///
    /// Evaluates the rules of the Deployment controller, and what pods and events report: which limit blocks the rollout,
    /// which pods have which problem, what would help, and when the progress deadline fires. Works on any cluster, with
    /// any controllers. Several Deployments are listed in a table, with details of those that are not done. Read-only.
    #[command(verbatim_doc_comment, after_help = WHY_EXAMPLE)]
    Why(#[command(flatten)] WhyFlags),
    /// Manage rollouts: status, history, undo, pause and more
    #[command(subcommand, after_help = ROLLOUT_EXAMPLE)]
    Rollout(RolloutCommand),
    #[command(flatten)]
    Kubectl(Verb),
    /// Show what a change of manifests will do, before it is done
    ///
    /// Replays the change in virtual time, with the API server, controllers, scheduler and simulated nodes of this binary, and
    /// shows how long it takes, how few pods are available, how many there are at once, each step with its reason, whether
    /// the deadline is exceeded, and what is left if it fails. Nothing is changed anywhere.
    ///
    /// The exit code is 0 if the rollout completes, 4 if it gets stuck, 5 if it is paused, and 3 if it still moves at the end.
    #[command(
        verbatim_doc_comment,
        after_help = PLAN_EXAMPLE,
        mut_arg("cluster", |arg| arg.num_args(0..=1).require_equals(true).default_missing_value("").hide_short_help(false)
            .help("Begin with the state of the running cluster; with a name, of that cluster of the kubeconfig"))
    )]
    Plan(#[command(flatten)] Box<PlanFlags>),
    /// Simulate a rollout in virtual time and print what the controllers do
    ///
    /// A story is a text file of commands, one per line: create a Deployment, change its image, make pods ready or not,
    /// advance the clock; docs/stories.md lists them. Manifests are applied one after the other, and their pods become
    /// ready one by one. The controllers decide what happens, in a cluster in this process. Each step and each reason to
    /// wait is printed below the command that caused it. No other cluster is contacted.
    #[command(verbatim_doc_comment, after_help = SIMULATE_EXAMPLE)]
    Simulate {
        /// A story file, `-` for standard input; or manifests (.yaml, .yml, .json)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Check, back up, restore and repair the directory of an embedded store
    #[command(subcommand, after_help = STORE_EXAMPLE)]
    Store(StoreCommand),
    /// Print a completion script for a shell
    ///
    /// It completes commands and flags, and queries the cluster for types, names, namespaces and containers. If the
    /// cluster cannot be reached, it prints nothing.
    #[command(verbatim_doc_comment, after_help = COMPLETION_EXAMPLE)]
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Print completion candidates; called by the completion scripts
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words after `gantry`, the incomplete one last
        #[arg(last = true)]
        words: Vec<String>,
    },
}

const EXAMPLE: &str = "\
Example:
  gantry up --detach                                # a cluster on this machine
  export KUBECONFIG=~/.local/share/gantry/kubeconfig
  gantry --context gantry create deployment web --image=nginx:1   # kubectl's verbs and flags
  gantry rollout watch deployment/web               # not in kubectl
  gantry up -- ./test.sh                            # a cluster for one command";

const ROLLOUT_EXAMPLE: &str = "\
Example:
  gantry rollout status deployment/web
  gantry rollout history deployment/web --changes
  gantry rollout undo deployment/web --context gantry";

const STORE_EXAMPLE: &str = "\
Example:
  gantry store backup ~/.local/share/gantry monday.backup";

const UP_LISTEN: &str = "\
HOST:PORT to serve on; `:PORT` is all interfaces \
[default: 127.0.0.1:6443 for `gantry`, else a free port]";

const UP_EXAMPLE: &str = "\
Example:
  gantry up --detach --wait                         # the cluster `gantry`, in the background
  gantry up --name dev --nodes 5                    # a second cluster
  sudo gantry up --cri auto                         # real pods on this machine
  KUBECONFIG=~/.local/share/gantry/kubeconfig kubectl create deployment web --image=nginx:1
  gantry up -- sh -c 'kubectl apply -f web.yaml && kubectl rollout status deployment/web'";

const CLUSTERS_EXAMPLE: &str = "\
The context of the cluster `dev` is `gantry-dev`; all commands accept it, with any kubeconfig.

Example:
  gantry clusters
  gantry clusters -o json | jq -r '.[] | select(.status == \"running\") | .kubeconfig'
  gantry get pods --context gantry-dev";

const CONTROLLERS_EXAMPLE: &str = "\
Example:
  gantry controllers --kubeconfig cluster.kubeconfig --leader-elect \\
    --controllers deployment-controller,replicaset-controller,garbage-collector-controller";

const NODE_EXAMPLE: &str = "\
Example:
  sudo gantry node --kubeconfig cluster.kubeconfig --cri unix:///run/containerd/containerd.sock
  sudo gantry node --server https://10.0.0.1:6443 --token 07401b.f395accd246ae52d --ca-cert-hash sha256:...";

const APISERVER_EXAMPLE: &str = "\
Example:
  gantry apiserver --data-dir ./api --write-kubeconfig api.kubeconfig &
  KUBECONFIG=api.kubeconfig kubectl get namespaces";

const WHY_EXAMPLE: &str = "\
Exit codes:
  0  done: the rollout is complete
  3  moving: the rollout makes progress; with --wait, the timeout expired
  4  stuck: no progress without a change
  5  paused: until it is resumed
  1  an error
For several Deployments, the worst: an error, stuck, moving, paused, done.

Example:
  gantry why deployment/web
  gantry why deployment/web -n shop -o json | jq -r '.causes[].summary'
  gantry why deployment/web --wait --timeout=10m
  gantry why -A";

const PLAN_EXAMPLE: &str = "\
Example:
  gantry plan -f new.yaml --from old.yaml
  gantry plan -f new.yaml --cluster
  gantry plan -f new.yaml --from old.yaml --assume start-seconds=20±5 --assume-new crash-percent=5
  gantry plan -f new.yaml --from old.yaml --compare maxSurge=100%,maxUnavailable=0 -o html > plan.html";

const SIMULATE_EXAMPLE: &str = "\
Example:
  printf 'deployment web replicas=4\\nready all\\n\\nimage nginx:broken\\nwait 601\\n' | gantry simulate -

An unknown command prints the list of commands.";

const COMPLETION_EXAMPLE: &str = "\
Example:
  source <(gantry completion bash)                                     # bash, now
  echo 'source <(gantry completion bash)' >> ~/.bashrc                 # bash, from now on
  gantry completion zsh > \"${fpath[1]}/_gantry\"                       # zsh
  gantry completion fish > ~/.config/fish/completions/gantry.fish      # fish";

/// Runs a command line, the program's name first.
pub(crate) fn run(words: Vec<OsString>) -> ExitCode {
    match parse(words) {
        Ok(gantry) => gantry.run(),
        Err(reported) => reported,
    }
}

/// Parses a command line, or reports its error. The definitions of all commands take a megabyte, which a server need not keep.
fn parse(words: Vec<OsString>) -> Result<Gantry, ExitCode> {
    let mut root = Gantry::command();
    root.build();
    let typed: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words = match argv::for_clap(&root, words) {
        Ok(words) => words,
        Err(wrong) => return Err(usage_error::report_invalid_boolean(&wrong, &root, &typed)),
    };
    Gantry::try_parse_from(words).map_err(|error| usage_error::report(&error, &root, &typed))
}

impl Gantry {
    fn run(self) -> ExitCode {
        let takes_flags_before =
            matches!(self.command, Command::Kubectl(_) | Command::Rollout(_) | Command::Why(_));
        if !takes_flags_before && self.cluster != ClusterFlags::default() {
            return fail("connection flags such as --context must follow this command, if it takes them");
        }
        match self.command {
            Command::Up(flags) => up::run(&flags),
            Command::Clusters(flags) => clusters::run(&flags),
            Command::Down(flags) => clusters::down(&flags),
            Command::DeleteCluster(flags) => clusters::delete(&flags),
            Command::Controllers(flags) => controllers::run(&flags),
            Command::Node(flags) => node::run(&flags),
            Command::Token(command) => command.run(&self.cluster),
            Command::Apiserver(flags) => apiserver::run(&flags),
            Command::Why(flags) => why::run(flags, &self.cluster),
            Command::Rollout(command) => command.run(&self.cluster),
            Command::Kubectl(verb) => verb.run(&self.cluster),
            Command::Plan(flags) => plan::run(*flags, &self.cluster),
            Command::Simulate { files } => simulate::run(&files),
            Command::Store(command) => command.run(),
            Command::Completion { shell } => print(shell.script()),
            Command::Complete { words } => completion::print_candidates(&words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Gantry::command().debug_assert();
    }
}
