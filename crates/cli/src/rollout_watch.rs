//! `gantry rollout watch`: shows a rollout live on the terminal, or as lines without one.
//!
//! `caches` holds the objects, `terminal` draws; `gantry-view` renders.

mod caches;
mod terminal;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gantry_kubectl::Failure;
use gantry_runtime::Clock;
use gantry_view::live::{self, Log};
use gantry_view::{ApiObjects, Line, RolloutState, Snapshot, Style, WaitDecision, WaitPolicy, why};
use tokio::time::{Instant, MissedTickBehavior};

use crate::cluster::{Cluster, ClusterFlags};
use crate::deployment_args::deployment_name;
use crate::output::{fail, print, print_stderr};
use crate::why::{WaitLimits, exit_code};
use crate::{ansi, cluster, fetch};
use caches::Caches;
use terminal::{Input, Terminal};

/// The minimum time between two frames, so that large rollouts are not redrawn for each pod.
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);
/// How often a frame is redrawn without changes, for ages and deadlines.
const TICK: Duration = Duration::from_secs(1);

/// The flags of `gantry rollout watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchFlags {
    /// The Deployment: `web`, `deployment/web` or `deployment web`
    #[arg(required = true, num_args = 1..=2, value_name = "DEPLOYMENT")]
    deployment: Vec<String>,
    /// Print changes as lines, even on a terminal
    #[arg(long)]
    lines: bool,
    /// Keep watching when the rollout is done or stuck, until `q` is typed or the timeout expires
    #[arg(long)]
    stay: bool,
    #[command(flatten)]
    limits: WaitLimits,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
}

/// How a watch ended.
enum WatchEnd {
    /// The rollout ended, or `q` was typed; with the last report.
    Finished(Box<why::Report>),
    /// The Deployment was deleted.
    Deleted,
}

/// Watches a rollout; the exit code is the last verdict.
pub(crate) fn run(flags: &WatchFlags) -> ExitCode {
    cluster::run(watch(flags))
}

async fn watch(flags: &WatchFlags) -> ExitCode {
    let name = match deployment_name(&flags.deployment) {
        Ok(name) => name,
        Err(message) => return fail(&message),
    };
    let started: Result<_, Failure> = async {
        let cluster = flags.cluster.open().await?;
        let caches = Caches::start(&cluster, &name).await?;
        Ok(Watch { flags, cluster, caches, commands: flags.cluster.for_commands(None) })
    }
    .await;
    let watch = match started {
        Ok(watch) => watch,
        Err(failure) => {
            print_stderr(failure.lines().trim_end());
            return ExitCode::FAILURE;
        }
    };
    let (started, waiting) = (Instant::now(), flags.limits.begin());
    let ended = if on_screen(flags) { watch.show(waiting).await } else { watch.print_changes(waiting).await };
    match ended {
        Ok(WatchEnd::Finished(report)) => {
            flags.limits.print_timeout_note(started, report.verdict);
            exit_code(report.verdict)
        }
        Ok(WatchEnd::Deleted) => fail(&format!("deployment/{name} was deleted")),
        Err(message) => fail(&message),
    }
}

fn on_screen(flags: &WatchFlags) -> bool {
    !flags.lines && !ansi::is_dumb() && io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// A rollout that is watched.
struct Watch<'a> {
    flags: &'a WatchFlags,
    cluster: Cluster,
    caches: Caches,
    commands: why::CommandFlags,
}

impl Watch<'_> {
    /// Whether this report ends the watch.
    fn is_over(&self, waiting: &mut WaitPolicy, report: &why::Report) -> bool {
        let next = waiting.next(report.now, std::slice::from_ref(report));
        let is_timeout = waiting.is_timeout(report.now);
        next == WaitDecision::End && (is_timeout || !self.flags.stay)
    }

    /// Draws on the terminal until the rollout ends or `q` is typed.
    async fn show(&self, mut waiting: WaitPolicy) -> Result<WatchEnd, String> {
        let clock = Clock::system();
        // Opened lazily: a rollout that has ended needs no screen.
        let mut terminal = None;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = loop {
            let Some(snapshot) = snapshot(&self.caches)? else { break WatchEnd::Deleted };
            let state = RolloutState::of(clock.now(), &snapshot);
            let report = why::report(&state, &self.commands);
            if self.is_over(&mut waiting, &report) {
                break WatchEnd::Finished(Box::new(report));
            }
            let terminal = match &mut terminal {
                Some(terminal) => terminal,
                none => none
                    .insert(Terminal::open().map_err(|error| format!("cannot use the terminal: {error}"))?),
            };
            let mut lines = live::frame(&state, terminal.canvas());
            if let (Some(error), Some(last)) = (self.caches.error(), lines.last_mut()) {
                *last = Line::of(Style::Bad, &format!("connection lost, trying again: {error}"));
            }
            terminal.draw(&lines).map_err(|error| format!("cannot write: {error}"))?;
            let drawn = Instant::now();
            tokio::select! {
                input = terminal.input() => match input {
                    Input::Quit => break WatchEnd::Finished(Box::new(report)),
                    Input::Resized => {}
                },
                () = self.caches.changed() => tokio::time::sleep_until(drawn + BETWEEN_FRAMES).await,
                _ = tick.tick() => {}
            }
        };
        drop(terminal);
        if let WatchEnd::Finished(report) = &end {
            self.print_final_report(report).await?;
        }
        Ok(end)
    }

    /// Prints the result after the screen is closed: the full report if the rollout is stuck.
    async fn print_final_report(&self, report: &why::Report) -> Result<(), String> {
        if report.verdict != why::Verdict::Stuck {
            print(&format!("{}\n", report.summary_line()));
            return Ok(());
        }
        let Some(mut objects) = self.caches.objects() else { return Ok(()) };
        // The report's advice depends on nodes, the live view does not.
        objects.nodes = fetch::nodes(&self.cluster, &objects.pods).await;
        let snapshot = parsed(objects)?;
        let report = why::explain(report.now, &snapshot, &self.commands);
        print(&ansi::page(&why::lines(&report, ansi::columns())));
        Ok(())
    }

    /// Prints lines until the rollout ends.
    async fn print_changes(&self, mut waiting: WaitPolicy) -> Result<WatchEnd, String> {
        let clock = Clock::system();
        let mut log = Log::new();
        let mut error = None;
        loop {
            let Some(snapshot) = snapshot(&self.caches)? else { return Ok(WatchEnd::Deleted) };
            let report = why::explain(clock.now(), &snapshot, &self.commands);
            for line in log.next(&snapshot, &report) {
                match writeln!(io::stdout(), "{line}") {
                    // A closed pipe ends the watch without an error.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Ok(WatchEnd::Finished(Box::new(report)));
                    }
                    written => written.map_err(|error| format!("cannot write: {error}"))?,
                }
            }
            if self.is_over(&mut waiting, &report) {
                return Ok(WatchEnd::Finished(Box::new(report)));
            }
            let now_in_trouble = self.caches.error();
            if now_in_trouble != error
                && let Some(what) = &now_in_trouble
            {
                print_stderr(&format!("note: connection lost, trying again: {what}"));
            }
            error = now_in_trouble;
            tokio::select! {
                () = self.caches.changed() => tokio::time::sleep(BETWEEN_FRAMES).await,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }
}

/// The current snapshot; `None` if the Deployment was deleted.
fn snapshot(caches: &Caches) -> Result<Option<Snapshot>, String> {
    caches.objects().map(parsed).transpose()
}

fn parsed(objects: ApiObjects) -> Result<Snapshot, String> {
    Snapshot::parse(objects).map_err(|error| format!("the server's response cannot be decoded: {error}"))
}
