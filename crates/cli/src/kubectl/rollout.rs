//! kubectl's verbs of `rollout`.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use gantry_kubectl::verbs::{
    HistoryOptions, PauseOrResume, RolloutStatusOptions, UndoOptions, history, pause_or_resume, restart,
    status, undo,
};

use super::fail_when_stuck;
use super::{ResultFlags, SelectionFlags, duration, limit, with_client_context};
use crate::cluster::ClusterFlags;

/// kubectl's `rollout` verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum RolloutVerb {
    /// Show the revisions of a Deployment, and what changed between them
    #[command(
        after_help = "Example:\n  gantry rollout history deployment/web\n  gantry rollout history deployment/web --changes | less"
    )]
    History {
        /// Show the details of one revision; 0 for a list of all
        #[arg(long, default_value = "0", allow_negative_numbers = true)]
        revision: i64,
        /// Show the changes between revisions [default: on a terminal; elsewhere kubectl's table alone]
        #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
        changes: Option<bool>,
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        target: RolloutTarget,
    },
    /// Roll back to an earlier revision
    #[command(after_help = "Example:\n  gantry rollout undo deployment/web --to-revision=2 --context gantry")]
    Undo {
        /// The revision to roll back to; 0 for the previous one
        #[arg(long, default_value = "0", allow_negative_numbers = true)]
        to_revision: i64,
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        target: RolloutTarget,
    },
    /// Pause the rollout of a Deployment
    #[command(after_help = "Example:\n  gantry rollout pause deployment/web --context gantry")]
    Pause {
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        target: RolloutTarget,
    },
    /// Resume the rollout of a paused Deployment
    #[command(after_help = "Example:\n  gantry rollout resume deployment/web --context gantry")]
    Resume {
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        target: RolloutTarget,
    },
    /// Restart all pods with a rollout
    #[command(after_help = "Example:\n  gantry rollout restart deployment/web --context gantry")]
    Restart {
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        target: RolloutTarget,
    },
    /// Wait for a rollout to finish
    ///
    /// Exits with 0 when the rollout is done, with 1 when its progress deadline is exceeded or the timeout expires, as
    /// kubectl does. With --fail-when-stuck it also exits with 1 as soon as `gantry why` reports the rollout as stuck,
    /// which is often minutes earlier.
    #[command(
        verbatim_doc_comment,
        after_help = "Example:\n  gantry rollout status deployment/web --timeout=5m\n  gantry rollout status deployment/web --fail-when-stuck"
    )]
    Status {
        /// Whether to wait
        #[arg(short, long, default_value = "true", action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
        watch: bool,
        /// How long to wait; 0 for no limit
        #[arg(long, value_parser = duration)]
        timeout: Option<Duration>,
        /// Only this revision; 0 for any
        #[arg(long, default_value = "0")]
        revision: i64,
        /// Fail when the rollout of this Deployment has been stuck for so long; not a flag of kubectl
        #[arg(long, value_name = "DURATION", value_parser = duration, num_args = 0..=1, default_missing_value = "30s", require_equals = true)]
        fail_when_stuck: Option<Duration>,
        #[command(flatten)]
        target: RolloutTarget,
    },
}

/// The objects of a rollout verb.
#[derive(Clone, Debug, Args)]
pub(crate) struct RolloutTarget {
    /// `TYPE NAME` or `TYPE/NAME`; a type alone means all objects of it
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

impl RolloutVerb {
    pub(crate) fn run(self, before: &ClusterFlags) -> ExitCode {
        let target = self.target().clone();
        let selection = target.selection.selection(target.words.clone());
        with_client_context(&target.cluster, before, async |ctx| match self {
            Self::History { revision, changes, printer, .. } => {
                let printer = printer.printer()?;
                // Without a terminal, the output is exactly kubectl's.
                let changes =
                    changes.unwrap_or_else(|| printer.output.is_none() && io::stdout().is_terminal());
                history(ctx, &HistoryOptions { selection, revision, changes, printer }).await
            }
            Self::Undo { to_revision, printer, .. } => {
                undo(ctx, &UndoOptions { selection, to_revision, printer: printer.printer()? }).await
            }
            Self::Pause { printer, .. } => {
                pause_or_resume(ctx, &selection, PauseOrResume::Pause, &printer.printer()?).await
            }
            Self::Resume { printer, .. } => {
                pause_or_resume(ctx, &selection, PauseOrResume::Resume, &printer.printer()?).await
            }
            Self::Restart { printer, .. } => restart(ctx, &selection, &printer.printer()?).await,
            Self::Status { watch, timeout, revision, fail_when_stuck, .. } => {
                let options = RolloutStatusOptions { selection, watch, timeout: limit(timeout), revision };
                let Some(stuck_for) = fail_when_stuck else { return status(ctx, &options).await };
                let cluster = target.cluster.clone().or(before);
                // kubectl's own result takes precedence.
                tokio::select! {
                    biased;
                    ended = status(ctx, &options) => ended,
                    failure = fail_when_stuck::failure(&cluster, &target.words, stuck_for) => Err(failure),
                }
            }
        })
    }

    fn target(&self) -> &RolloutTarget {
        match self {
            Self::History { target, .. }
            | Self::Undo { target, .. }
            | Self::Pause { target, .. }
            | Self::Resume { target, .. }
            | Self::Restart { target, .. }
            | Self::Status { target, .. } => target,
        }
    }
}
