//! `gantry why`: reads Deployments and prints reports of `gantry-view`; with `--wait`, repeatedly until the rollouts end.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gantry_kubectl::Failure;
use gantry_runtime::Clock;
use gantry_view::why::{self, Report, Several};
use gantry_view::{ApiObjects, Snapshot, WaitDecision, WaitPolicy};
use tokio::time::Instant;

use crate::cluster::{Cluster, ClusterFlags};
use crate::deployment_args::DeploymentArgs;
use crate::kubectl::duration;
use crate::output::{fail, print, print_stderr};
use crate::{ansi, cluster, fetch};

/// The polling interval of `--wait`.
const INTERVAL: Duration = Duration::from_secs(1);

/// The flags of `gantry why`.
#[derive(Debug, Args)]
pub(crate) struct WhyFlags {
    /// The Deployments: `web`, `deployment/web`, `deployment web api`; `deployments` for all of the namespace
    #[arg(value_name = "DEPLOYMENT")]
    deployment: Vec<String>,
    /// All Deployments with these labels, such as app=web
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// The Deployments of all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// The output format
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
    /// Wait until the rollout has ended: done, stuck or paused
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    limits: WaitLimits,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The flags of waiting for rollouts.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WaitLimits {
    /// How long to wait at most; 0 for no limit
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// How long a rollout must be stuck or paused to count as ended; an exceeded progress deadline counts at once
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "30s")]
    stuck_for: Duration,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For machines; the fields are described in docs/why.md
    Json,
}

/// The reports, with failures and notes.
struct Explained {
    reports: Vec<Report>,
    failures: Vec<Failure>,
    notes: Vec<String>,
}

impl WaitLimits {
    /// Starts waiting now.
    pub(crate) fn begin(&self) -> WaitPolicy {
        WaitPolicy::new(Clock::system().now(), self.stuck_for, self.timeout())
    }

    /// The timeout, if there is one.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout.filter(|timeout| !timeout.is_zero())
    }

    /// Prints a note if the timeout ended the waiting.
    pub(crate) fn print_timeout_note(&self, started: Instant, verdict: why::Verdict) {
        if let Some(limit) = self.timeout()
            && verdict == why::Verdict::Moving
            && started.elapsed() >= limit
        {
            print_stderr(&format!("note: still moving after {}s (--timeout)", limit.as_secs()));
        }
    }
}

/// Explains rollouts; the exit code is the worst verdict. Flags before the command count, too.
pub(crate) fn run(mut flags: WhyFlags, before: &ClusterFlags) -> ExitCode {
    flags.cluster = flags.cluster.or(before);
    if flags.limits.timeout.is_some() && !flags.wait {
        return fail("--timeout is about waiting\nhint: add --wait");
    }
    let args = DeploymentArgs::parse(&flags.deployment, flags.selector.as_deref(), flags.all_namespaces);
    match args {
        Ok(args) => cluster::run(explain(&flags, &args)),
        Err(message) => fail(&message),
    }
}

async fn explain(flags: &WhyFlags, args: &DeploymentArgs) -> ExitCode {
    let explained = async {
        let cluster = flags.cluster.open().await?;
        if flags.wait {
            wait(flags, args, &cluster).await
        } else {
            fetch_reports(flags, args, &cluster).await
        }
    };
    match explained.await {
        Ok(explained) => print_reports(flags, args, explained),
        Err(failure) => {
            print_stderr(failure.lines().trim_end());
            ExitCode::FAILURE
        }
    }
}

/// Reads and explains once.
async fn fetch_reports(
    flags: &WhyFlags,
    args: &DeploymentArgs,
    cluster: &Cluster,
) -> Result<Explained, Failure> {
    let fetched = fetch::deployments(cluster, args).await?;
    let reports =
        fetched.objects.into_iter().map(|objects| report(flags, args, objects)).collect::<Result<_, _>>()?;
    Ok(Explained { reports, failures: fetched.failures, notes: fetched.notes })
}

fn report(flags: &WhyFlags, args: &DeploymentArgs, objects: ApiObjects) -> Result<Report, Failure> {
    let snapshot = Snapshot::parse(objects)
        .map_err(|error| Failure::other(format!("the server's response cannot be decoded: {error}")))?;
    let namespace = snapshot.deployment.meta.key().namespace.to_string();
    let spans_all = matches!(args, DeploymentArgs::All { all_namespaces: true, .. });
    let commands = flags.cluster.for_commands(spans_all.then_some(namespace.as_str()));
    Ok(why::explain(Clock::system().now(), &snapshot, &commands))
}

/// Polls until the rollouts end or the timeout expires. Connection errors are retried.
async fn wait(flags: &WhyFlags, args: &DeploymentArgs, cluster: &Cluster) -> Result<Explained, Failure> {
    let started = Instant::now();
    let until = flags.limits.timeout().map(|limit| started + limit);
    let mut waiting = flags.limits.begin();
    let mut last = fetch_reports(flags, args, cluster).await?;
    let mut is_lost = false;
    loop {
        if !last.failures.is_empty()
            || waiting.next(Clock::system().now(), &last.reports) == WaitDecision::End
        {
            let verdict = several(args, last.reports.clone()).verdict();
            flags.limits.print_timeout_note(started, verdict);
            return Ok(last);
        }
        let next = Instant::now() + INTERVAL;
        tokio::time::sleep_until(until.map_or(next, |until| until.min(next))).await;
        let fetched = fetch_reports(flags, args, cluster);
        let fetched = match until {
            // One last request at the timeout, unless the server does not respond.
            Some(until) => tokio::time::timeout_at(until + INTERVAL, fetched).await.ok(),
            None => Some(fetched.await),
        };
        match fetched {
            Some(Ok(now)) => (last, is_lost) = (now, false),
            Some(Err(failure @ (Failure::ConnectionRefused { .. } | Failure::Unreachable(_)))) => {
                if !is_lost {
                    print_stderr(&format!("note: trying again: {}", failure.lines().trim_end()));
                }
                is_lost = true;
            }
            Some(Err(failure)) => return Err(failure),
            None => {}
        }
    }
}

fn several(args: &DeploymentArgs, reports: Vec<Report>) -> Several {
    Several { reports, all_namespaces: matches!(args, DeploymentArgs::All { all_namespaces: true, .. }) }
}

/// Prints the reports. The layout depends on how many Deployments were requested, not on how many were found.
fn print_reports(flags: &WhyFlags, args: &DeploymentArgs, explained: Explained) -> ExitCode {
    let Explained { reports, failures, notes } = explained;
    for note in &notes {
        print_stderr(note);
    }
    let several = several(args, reports);
    let text = match (flags.output, args, several.reports.as_slice()) {
        (Output::Json, DeploymentArgs::One(_), [report]) => why::render_json(report),
        (Output::Json, ..) => several.render_json(),
        (Output::Text, DeploymentArgs::One(_), [report]) => match ansi::columns() {
            Some(columns) => ansi::page(&why::lines(report, Some(columns))),
            None => why::render_text(report),
        },
        (Output::Text, _, []) => {
            if failures.is_empty() {
                print_stderr("No Deployments found.");
            }
            String::new()
        }
        (Output::Text, ..) => match ansi::columns() {
            Some(columns) => ansi::page(&several.lines(Some(columns))),
            None => several.render_text(),
        },
    };
    let printed = print(&text);
    if !failures.is_empty() {
        for failure in &failures {
            print_stderr(failure.lines().trim_end());
        }
        return ExitCode::FAILURE;
    }
    match printed {
        ExitCode::SUCCESS => exit_code(several.verdict()),
        failed => failed,
    }
}

/// The exit code of a verdict. 1 and 2 are left to errors.
pub(crate) fn exit_code(verdict: why::Verdict) -> ExitCode {
    match verdict {
        why::Verdict::Done => ExitCode::SUCCESS,
        why::Verdict::Moving => ExitCode::from(3),
        why::Verdict::Stuck => ExitCode::from(4),
        why::Verdict::Paused => ExitCode::from(5),
    }
}
