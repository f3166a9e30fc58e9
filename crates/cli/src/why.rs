//! `gantry why`: reads, explains, prints; with `--wait` again and again until the rollouts have ended. The explaining is
//! `gantry-view`'s, and so is when waiting ends.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gantry_kubectl::Failure;
use gantry_runtime::Clock;
use gantry_view::why::{self, Report, Several};
use gantry_view::{ApiObjects, Snapshot, WaitDecision, WaitPolicy};
use tokio::time::Instant;

use crate::asked::Asked;
use crate::cluster::{Cluster, ClusterFlags};
use crate::kubectl::duration;
use crate::output::{fail, print, talk};
use crate::{cluster, gather, paint};

/// How often `--wait` looks.
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
    /// How to print it
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

/// How long a rollout is waited for.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WaitLimits {
    /// How long to wait at most; 0 for as long as it takes
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// How long a rollout has to be stuck or paused to count as ended; a missed deadline counts at once
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

/// What was found out.
struct Explained {
    reports: Vec<Report>,
    failures: Vec<Failure>,
    notes: Vec<String>,
}

impl WaitLimits {
    /// When waiting ends that begins now.
    pub(crate) fn begin(&self) -> WaitPolicy {
        WaitPolicy::new(Clock::system().now(), self.stuck_for, self.timeout())
    }

    /// The most that may be waited, if there is a limit.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout.filter(|timeout| !timeout.is_zero())
    }

    /// Says that the time was up, if the last verdict is not what ended the waiting.
    pub(crate) fn tell_timeout(&self, began: Instant, verdict: why::Verdict) {
        if let Some(limit) = self.timeout()
            && verdict == why::Verdict::Moving
            && began.elapsed() >= limit
        {
            talk(&format!("note: still moving after {}s (--timeout)", limit.as_secs()));
        }
    }
}

/// Says why rollouts are where they are; the exit code says the worst verdict. Flags before the command count too.
pub(crate) fn run(mut flags: WhyFlags, before: &ClusterFlags) -> ExitCode {
    flags.cluster = flags.cluster.or(before);
    if flags.limits.timeout.is_some() && !flags.wait {
        return fail("--timeout is about waiting\nhint: add --wait");
    }
    let asked = Asked::parse(&flags.deployment, flags.selector.as_deref(), flags.all_namespaces);
    match asked {
        Ok(asked) => cluster::run(explain(&flags, &asked)),
        Err(message) => fail(&message),
    }
}

async fn explain(flags: &WhyFlags, asked: &Asked) -> ExitCode {
    let explained = async {
        let cluster = flags.cluster.open().await?;
        if flags.wait { wait(flags, asked, &cluster).await } else { look(flags, asked, &cluster).await }
    };
    match explained.await {
        Ok(explained) => tell(flags, asked, explained),
        Err(failure) => {
            talk(failure.lines().trim_end());
            ExitCode::FAILURE
        }
    }
}

/// Reads and explains once.
async fn look(flags: &WhyFlags, asked: &Asked, cluster: &Cluster) -> Result<Explained, Failure> {
    let gathered = gather::look(cluster, asked).await?;
    let reports = gathered
        .objects
        .into_iter()
        .map(|objects| report(flags, asked, objects))
        .collect::<Result<_, _>>()?;
    Ok(Explained { reports, failures: gathered.failures, notes: gathered.notes })
}

fn report(flags: &WhyFlags, asked: &Asked, objects: ApiObjects) -> Result<Report, Failure> {
    let snapshot = Snapshot::parse(objects)
        .map_err(|error| Failure::other(format!("the server's answer cannot be read: {error}")))?;
    let namespace = snapshot.deployment.meta.key().namespace.to_string();
    let spans_all = matches!(asked, Asked::All { all_namespaces: true, .. });
    let commands = flags.cluster.for_commands(spans_all.then_some(namespace.as_str()));
    Ok(why::explain(Clock::system().now(), &snapshot, &commands))
}

/// Looks until the rollouts have ended or the time is up. A server that cannot be reached for a while is waited for.
async fn wait(flags: &WhyFlags, asked: &Asked, cluster: &Cluster) -> Result<Explained, Failure> {
    let began = Instant::now();
    let until = flags.limits.timeout().map(|limit| began + limit);
    let mut waiting = flags.limits.begin();
    let mut last = look(flags, asked, cluster).await?;
    let mut is_lost = false;
    loop {
        if !last.failures.is_empty()
            || waiting.next(Clock::system().now(), &last.reports) == WaitDecision::End
        {
            let verdict = several(asked, last.reports.clone()).verdict();
            flags.limits.tell_timeout(began, verdict);
            return Ok(last);
        }
        let next = Instant::now() + INTERVAL;
        tokio::time::sleep_until(until.map_or(next, |until| until.min(next))).await;
        let looked = look(flags, asked, cluster);
        let looked = match until {
            // One look more at the end, unless the server does not answer.
            Some(until) => tokio::time::timeout_at(until + INTERVAL, looked).await.ok(),
            None => Some(looked.await),
        };
        match looked {
            Some(Ok(now)) => (last, is_lost) = (now, false),
            Some(Err(failure @ (Failure::NobodyThere { .. } | Failure::Unreachable(_)))) => {
                if !is_lost {
                    talk(&format!("note: trying again: {}", failure.lines().trim_end()));
                }
                is_lost = true;
            }
            Some(Err(failure)) => return Err(failure),
            None => {}
        }
    }
}

fn several(asked: &Asked, reports: Vec<Report>) -> Several {
    Several { reports, all_namespaces: matches!(asked, Asked::All { all_namespaces: true, .. }) }
}

/// Prints what was found out. How many were asked for decides the layout, not how many were found.
fn tell(flags: &WhyFlags, asked: &Asked, explained: Explained) -> ExitCode {
    let Explained { reports, failures, notes } = explained;
    for note in &notes {
        talk(note);
    }
    let several = several(asked, reports);
    let text = match (flags.output, asked, several.reports.as_slice()) {
        (Output::Json, Asked::One(_), [report]) => why::render_json(report),
        (Output::Json, ..) => several.render_json(),
        (Output::Text, Asked::One(_), [report]) => match paint::columns() {
            Some(columns) => paint::page(&why::lines(report, Some(columns))),
            None => why::render_text(report),
        },
        (Output::Text, _, []) => {
            if failures.is_empty() {
                talk("No Deployments found.");
            }
            String::new()
        }
        (Output::Text, ..) => match paint::columns() {
            Some(columns) => paint::page(&several.lines(Some(columns))),
            None => several.render_text(),
        },
    };
    let printed = print(&text);
    if !failures.is_empty() {
        for failure in &failures {
            talk(failure.lines().trim_end());
        }
        return ExitCode::FAILURE;
    }
    match printed {
        ExitCode::SUCCESS => exit_code(several.verdict()),
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
