//! The subcommands of `gantry rollout`.

use std::process::ExitCode;

use clap::Subcommand;

use crate::cluster::ClusterFlags;
use crate::kubectl::RolloutVerb;
use crate::rollout_watch::{self, WatchFlags};

/// The verbs of `gantry rollout`.
#[derive(Debug, Subcommand)]
pub(crate) enum RolloutCommand {
    /// Watch a rollout live, until it is done or stuck
    ///
    /// Shows each ReplicaSet with its pods, the limits, the revision, problems, the last events and the estimated time left.
    /// Where standard output is not a terminal, each change is printed as a line. It ends when the rollout is done, when it
    /// has been stuck or paused for a while, when its progress deadline is exceeded, at the timeout, or when `q` is typed.
    #[command(verbatim_doc_comment, after_help = WATCH_EXAMPLE)]
    Watch(#[command(flatten)] WatchFlags),
    #[command(flatten)]
    Kubectl(RolloutVerb),
}

const WATCH_EXAMPLE: &str = "\
The exit code is that of `gantry why`: 0 done, 3 moving (`q` or --timeout), 4 stuck, 5 paused; 1 for errors.

Example:
  gantry rollout watch deployment/web
  gantry rollout watch deployment/web -n shop --timeout=10m | tee rollout.log";

impl RolloutCommand {
    pub(crate) fn run(self, before: &ClusterFlags) -> ExitCode {
        match self {
            Self::Watch(mut flags) => {
                flags.cluster = flags.cluster.or(before);
                rollout_watch::run(&flags)
            }
            Self::Kubectl(verb) => verb.run(before),
        }
    }
}
