//! `gantry rollout`: what can be typed after it.

use std::process::ExitCode;

use clap::Subcommand;

use crate::cluster::ClusterFlags;
use crate::kubectl::RolloutVerb;
use crate::rollout_watch::{self, WatchFlags};

/// The verbs of `gantry rollout`.
#[derive(Debug, Subcommand)]
pub(crate) enum RolloutCommand {
    /// Follow a rollout live, until it is done or stuck
    ///
    /// Each ReplicaSet with its pods, the limits, the revision, what is wrong, the last events, and what is left at the
    /// pace so far. Where standard output is no terminal, every change is a line. It ends when the rollout is done, when
    /// it has been stuck or paused for a while, when its deadline has passed, when the time is up, or when `q` is typed.
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
