//! What can be typed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::apiserver::{self, ApiserverFlags};
use crate::cluster::ClusterFlags;
use crate::controllers::{self, ControllersFlags};
use crate::kubectl::Verb;
use crate::output::fail;
use crate::rollout::RolloutCommand;
use crate::simulate;
use crate::store::StoreCommand;
use crate::up::{self, UpFlags};
use crate::why::{self, WhyFlags};

/// Kubernetes Deployments in one binary
#[derive(Debug, Parser)]
#[command(name = "gantry", version, arg_required_else_help = true)]
pub(crate) struct Gantry {
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, read once")]
enum Command {
    /// Start a whole cluster on this machine
    ///
    /// A store, the Kubernetes API, the controllers, a scheduler and simulated nodes in one process. It is there in a
    /// blink, a second start on the same data goes on where the first one was, and kubectl, Helm and client libraries
    /// work against it unchanged.
    #[command(after_help = UP_EXAMPLE)]
    Up(#[command(flatten)] UpFlags),
    /// Run the controllers against any cluster
    ///
    /// They take the place of kube-controller-manager's controllers for Deployments, ReplicaSets, garbage and what a
    /// cluster of Deployments needs around them. See docs/switching.md for how to switch a cluster over, and back.
    #[command(after_help = CONTROLLERS_EXAMPLE)]
    Controllers(#[command(flatten)] ControllersFlags),
    /// Serve the Kubernetes API, alone
    ///
    /// Clients cannot tell it from a kube-apiserver: kubectl, client libraries and controllers work unchanged. It serves
    /// on loopback over TLS with certificates that it makes at the first start, stops on SIGTERM, and loses nothing
    /// that it acknowledged, however it ends.
    #[command(after_help = APISERVER_EXAMPLE)]
    Apiserver(#[command(flatten)] ApiserverFlags),
    /// Say why a rollout is where it is
    ///
    /// By the same rules that the controllers decide by, and by what pods and events complain of: which limit holds it back,
    /// which pods suffer from what, what would help, and when the deadline fires. On any cluster, whoever runs the
    /// Deployment. Nothing is changed.
    #[command(after_help = WHY_EXAMPLE)]
    Why(#[command(flatten)] WhyFlags),
    /// Look after rollouts: status, history, undo, pause and more
    #[command(subcommand)]
    Rollout(RolloutCommand),
    #[command(flatten)]
    Kubectl(Verb),
    /// Play a story in virtual time and print what the controllers do
    ///
    /// A story is a text file of commands, one a line: create a Deployment, change its image, make pods ready or not,
    /// let time pass. The same rules that run a cluster decide what happens, and every step and every reason to wait is
    /// printed under the command that led to it. Nothing is contacted and nothing is changed.
    #[command(after_help = SIMULATE_EXAMPLE)]
    Simulate {
        /// The story to play, `-` for standard input
        story: PathBuf,
    },
    /// Check, back up and restore the directory of an embedded store
    #[command(subcommand)]
    Store(StoreCommand),
}

const UP_EXAMPLE: &str = "\
Example:
  gantry up &
  export KUBECONFIG=~/.local/share/gantry/kubeconfig
  kubectl create deployment web --image=nginx:1 --replicas=3";

const CONTROLLERS_EXAMPLE: &str = "\
Example:
  gantry controllers --kubeconfig cluster.kubeconfig --leader-elect \\
    --controllers deployment-controller,replicaset-controller,garbage-collector-controller";

const APISERVER_EXAMPLE: &str = "\
Example:
  gantry apiserver --data-dir ~/.local/share/gantry --write-kubeconfig gantry.kubeconfig &
  KUBECONFIG=gantry.kubeconfig kubectl get namespaces";

const WHY_EXAMPLE: &str = "\
Exit codes:
  0  done: all that is wanted is there
  3  moving: it goes on by itself
  4  stuck: it does not, unless something changes
  5  paused: somebody has put it on hold
  1  it could not be found out; 2 for wrong arguments

Example:
  gantry why deployment/web
  gantry why deployment/web -n shop -o json | jq -r '.causes[].summary'";

const SIMULATE_EXAMPLE: &str = "\
Example:
  printf 'deployment web replicas=4\\nready all\\n\\nimage nginx:broken\\nwait 601\\n' | gantry simulate -

A line that is no command gets the list of all commands.";

impl Gantry {
    pub(crate) fn run(self) -> ExitCode {
        let takes_flags_before = matches!(self.command, Command::Kubectl(_) | Command::Rollout(_));
        if !takes_flags_before && !self.cluster.is_empty() {
            return fail("--kubeconfig, --context and --namespace stand after this command, not before it");
        }
        match self.command {
            Command::Up(flags) => up::run(&flags),
            Command::Controllers(flags) => controllers::run(&flags),
            Command::Apiserver(flags) => apiserver::run(&flags),
            Command::Why(flags) => why::run(&flags),
            Command::Rollout(command) => command.run(&self.cluster),
            Command::Kubectl(verb) => verb.run(&self.cluster),
            Command::Simulate { story } => simulate::run(&story),
            Command::Store(command) => command.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Gantry::command().debug_assert();
    }
}
