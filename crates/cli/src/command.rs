//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::apiserver::{self, ApiserverFlags};
use crate::argv;
use crate::cluster::ClusterFlags;
use crate::clusters::{self, ClustersFlags, DeleteFlags, DownFlags};
use crate::completion::{self, Shell};
use crate::controllers::{self, ControllersFlags};
use crate::kubectl::Verb;
use crate::output::{fail, print};
use crate::rollout::RolloutCommand;
use crate::simulate;
use crate::store::StoreCommand;
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
    /// Start a whole cluster on this machine
    ///
    /// A store, the Kubernetes API, the controllers, a scheduler and simulated nodes in one process. It is there in a
    /// blink, a second start on the same data goes on where the first one was, and kubectl, Helm and client libraries
    /// work against it unchanged.
    ///
    /// Each cluster has a name, and with it a directory, a port and a kubeconfig of its own. With a command behind `--`
    /// the cluster is one for that command alone: in memory, on a free port, and gone when the command ends.
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
    /// Its data is kept: `gantry up` goes on where it was. A cluster in memory is gone.
    #[command(verbatim_doc_comment, after_help = "Example:\n  gantry down\n  gantry down dev")]
    Down(#[command(flatten)] DownFlags),
    /// Delete a cluster of this machine and all its data, after asking
    #[command(
        after_help = "Example:\n  gantry delete-cluster dev\n  gantry delete-cluster dev --force --yes"
    )]
    DeleteCluster(#[command(flatten)] DeleteFlags),
    /// Run the controllers against any cluster
    ///
    /// They take the place of kube-controller-manager's controllers for Deployments, ReplicaSets, garbage and what a
    /// cluster of Deployments needs around them. See docs/switching.md for how to switch a cluster over, and back.
    #[command(
        verbatim_doc_comment,
        after_help = CONTROLLERS_EXAMPLE,
        mut_arg("kubeconfig", |arg| arg.help(
            "The kubeconfig to use [default: $KUBECONFIG, ~/.kube/config, or the pod's own account]"
        ))
    )]
    Controllers(#[command(flatten)] ControllersFlags),
    /// Serve the Kubernetes API, alone
    ///
    /// Clients cannot tell it from a kube-apiserver: kubectl, client libraries and controllers work unchanged. It serves
    /// on loopback over TLS with certificates that it makes at the first start, stops on SIGTERM, and loses nothing
    /// that it acknowledged, however it ends.
    #[command(verbatim_doc_comment, after_help = APISERVER_EXAMPLE)]
    Apiserver(#[command(flatten)] ApiserverFlags),
    /// Say why a rollout is where it is
    ///
    /// By the same rules that the controllers decide by, and by what pods and events report: which limit holds it back, which
    /// pods have which problem, what would help, and when the deadline fires. On any cluster, whichever controllers run
    /// it. Several Deployments are a table, and the details of those that are not done. Nothing is changed.
    #[command(verbatim_doc_comment, after_help = WHY_EXAMPLE)]
    Why(#[command(flatten)] WhyFlags),
    /// Look after rollouts: status, history, undo, pause and more
    #[command(subcommand, after_help = ROLLOUT_EXAMPLE)]
    Rollout(RolloutCommand),
    #[command(flatten)]
    Kubectl(Verb),
    /// Play a story in virtual time and print what the controllers do
    ///
    /// A story is a text file of commands, one a line: create a Deployment, change its image, make pods ready or not,
    /// let time pass. The same rules that run a cluster decide what happens, and every step and every reason to wait is
    /// printed under the command that led to it. Nothing is contacted and nothing is changed.
    #[command(verbatim_doc_comment, after_help = SIMULATE_EXAMPLE)]
    Simulate {
        /// The story to play, `-` for standard input
        story: PathBuf,
    },
    /// Check, back up and restore the directory of an embedded store
    #[command(subcommand, after_help = STORE_EXAMPLE)]
    Store(StoreCommand),
    /// Print a script that completes what is typed in a shell
    ///
    /// It completes commands and flags, and asks the cluster for types, names, namespaces and containers. Where the
    /// cluster cannot be reached it stays silent.
    #[command(verbatim_doc_comment, after_help = COMPLETION_EXAMPLE)]
    Completion {
        /// The shell
        shell: Shell,
    },
    /// What could be typed next; the scripts of `completion` ask this
    #[command(name = "__complete", hide = true)]
    Complete {
        /// What was typed behind `gantry`, the unfinished word last
        #[arg(last = true)]
        words: Vec<String>,
    },
}

const EXAMPLE: &str = "\
Example:
  gantry up --detach                                # a cluster on this machine
  export KUBECONFIG=~/.local/share/gantry/kubeconfig
  gantry --context gantry create deployment web --image=nginx:1   # kubectl's verbs and flags
  gantry rollout watch deployment/web               # and what kubectl never had
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
HOST:PORT to serve on; `:PORT` is every interface \
[default: 127.0.0.1:6443 for `gantry`, else a free port that stays]";

const UP_EXAMPLE: &str = "\
Example:
  gantry up --detach --wait                         # the cluster `gantry`, in the background
  gantry up --name dev --nodes 5                    # another one beside it
  KUBECONFIG=~/.local/share/gantry/kubeconfig kubectl create deployment web --image=nginx:1
  gantry up -- sh -c 'kubectl apply -f web.yaml && kubectl rollout status deployment/web'";

const CLUSTERS_EXAMPLE: &str = "\
The context of the cluster `dev` is `gantry-dev`; every command finds it, whatever the kubeconfig.

Example:
  gantry clusters
  gantry clusters -o json | jq -r '.[] | select(.status == \"running\") | .kubeconfig'
  gantry get pods --context gantry-dev";

const CONTROLLERS_EXAMPLE: &str = "\
Example:
  gantry controllers --kubeconfig cluster.kubeconfig --leader-elect \\
    --controllers deployment-controller,replicaset-controller,garbage-collector-controller";

const APISERVER_EXAMPLE: &str = "\
Example:
  gantry apiserver --data-dir ./api --write-kubeconfig api.kubeconfig &
  KUBECONFIG=api.kubeconfig kubectl get namespaces";

const WHY_EXAMPLE: &str = "\
Exit codes:
  0  done: all that is wanted is there
  3  moving: it goes on by itself; with --wait, the time was up
  4  stuck: it does not, unless something changes
  5  paused: it is on hold until it is resumed
  1  it could not be found out
Of several Deployments the worst counts: an error, stuck, moving, paused, done.

Example:
  gantry why deployment/web
  gantry why deployment/web -n shop -o json | jq -r '.causes[].summary'
  gantry why deployment/web --wait --timeout=10m
  gantry why -A";

const SIMULATE_EXAMPLE: &str = "\
Example:
  printf 'deployment web replicas=4\\nready all\\n\\nimage nginx:broken\\nwait 601\\n' | gantry simulate -

A line that is no command gets the list of all commands.";

const COMPLETION_EXAMPLE: &str = "\
Example:
  source <(gantry completion bash)                                     # bash, now
  echo 'source <(gantry completion bash)' >> ~/.bashrc                 # bash, from now on
  gantry completion zsh > \"${fpath[1]}/_gantry\"                       # zsh
  gantry completion fish > ~/.config/fish/completions/gantry.fish      # fish";

/// Does what was typed, the program's name first.
pub(crate) fn run(words: Vec<OsString>) -> ExitCode {
    let mut root = Gantry::command();
    root.build();
    let typed: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words = match argv::for_clap(&root, words) {
        Ok(words) => words,
        Err(wrong) => return usage_error::report_invalid_boolean(&wrong, &root, &typed),
    };
    match Gantry::try_parse_from(words) {
        Ok(gantry) => gantry.run(),
        Err(error) => usage_error::tell(&error, &root, &typed),
    }
}

impl Gantry {
    fn run(self) -> ExitCode {
        let takes_flags_before =
            matches!(self.command, Command::Kubectl(_) | Command::Rollout(_) | Command::Why(_));
        if !takes_flags_before && self.cluster != ClusterFlags::default() {
            return fail(
                "flags of the connection, such as --context, stand after this command or are not for it",
            );
        }
        match self.command {
            Command::Up(flags) => up::run(&flags),
            Command::Clusters(flags) => clusters::run(&flags),
            Command::Down(flags) => clusters::down(&flags),
            Command::DeleteCluster(flags) => clusters::delete(&flags),
            Command::Controllers(flags) => controllers::run(&flags),
            Command::Apiserver(flags) => apiserver::run(&flags),
            Command::Why(flags) => why::run(flags, &self.cluster),
            Command::Rollout(command) => command.run(&self.cluster),
            Command::Kubectl(verb) => verb.run(&self.cluster),
            Command::Simulate { story } => simulate::run(&story),
            Command::Store(command) => command.run(),
            Command::Completion { shell } => print(shell.script()),
            Command::Complete { words } => completion::answer(&words),
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
