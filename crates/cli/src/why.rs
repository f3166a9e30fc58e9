//! `gantry why`: reads once, explains, prints. The explaining is `gantry-view`'s.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gantry_runtime::Clock;
use gantry_view::{Snapshot, why};

use crate::cluster::ClusterFlags;
use crate::output::{fail, print, talk};
use crate::{cluster, gather};

/// The flags of `gantry why`.
#[derive(Debug, Args)]
pub(crate) struct WhyFlags {
    /// The Deployment: `web`, `deployment/web` or `deployment web`
    #[arg(required = true, num_args = 1..=2, value_name = "DEPLOYMENT")]
    deployment: Vec<String>,
    /// How to say it
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For machines; the fields are described in docs/why.md
    Json,
}

/// Says why a rollout is where it is; the exit code says the verdict. Flags before the command count too.
pub(crate) fn run(mut flags: WhyFlags, before: &ClusterFlags) -> ExitCode {
    flags.cluster = flags.cluster.or(before);
    cluster::run(explain(&flags))
}

async fn explain(flags: &WhyFlags) -> ExitCode {
    let name = match gather::deployment_name(&flags.deployment) {
        Ok(name) => name,
        Err(message) => return fail(&message),
    };
    let gathered = async { gather::objects(&flags.cluster.open().await?, name).await };
    let objects = match gathered.await {
        Ok(objects) => objects,
        Err(failure) => {
            talk(failure.lines().trim_end());
            return ExitCode::FAILURE;
        }
    };
    let snapshot = match Snapshot::parse(objects) {
        Ok(snapshot) => snapshot,
        Err(error) => return fail(&format!("the server's answer cannot be read: {error}")),
    };
    let report = why::explain(Clock::system().now(), &snapshot);
    let text = match flags.output {
        Output::Text => why::render_text(&report),
        Output::Json => why::render_json(&report),
    };
    match print(&text) {
        ExitCode::SUCCESS => exit_code(report.verdict),
        failed => failed,
    }
}

/// The verdict as an exit code. 1 is left to errors, as everywhere; 2 too, which other programs use for them.
pub(crate) fn exit_code(verdict: why::Verdict) -> ExitCode {
    match verdict {
        why::Verdict::Done => ExitCode::SUCCESS,
        why::Verdict::Moving => ExitCode::from(3),
        why::Verdict::Stuck => ExitCode::from(4),
        why::Verdict::Paused => ExitCode::from(5),
    }
}
