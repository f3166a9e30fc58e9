//! `gantry rollout watch`: follows a rollout on the screen, or in lines where there is none.
//!
//! `follow` keeps copies of the objects, `terminal` draws. What is drawn is `gantry-view`'s, and so is every line.

mod follow;
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

use crate::asked::deployment_name;
use crate::cluster::{Cluster, ClusterFlags};
use crate::output::{fail, print, talk};
use crate::why::{WaitLimits, exit_code};
use crate::{cluster, gather, paint};
use follow::Follower;
use terminal::{Input, Terminal};

/// The shortest time between two frames: a rollout of a thousand pods is not drawn a thousand times.
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);
/// How often a frame is drawn although nothing changed: ages and deadlines pass all the same.
const TICK: Duration = Duration::from_secs(1);

/// The flags of `gantry rollout watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchFlags {
    /// The Deployment: `web`, `deployment/web` or `deployment web`
    #[arg(required = true, num_args = 1..=2, value_name = "DEPLOYMENT")]
    deployment: Vec<String>,
    /// Print changes as lines, as if there were no terminal
    #[arg(long)]
    lines: bool,
    /// Go on when the rollout is done or stuck, until `q` is typed or the time is up
    #[arg(long)]
    stay: bool,
    #[command(flatten)]
    limits: WaitLimits,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
}

/// How watching ended.
enum End {
    /// It was over, or `q` was typed; this was the last look.
    Seen(Box<why::Report>),
    /// The Deployment is gone.
    Gone,
}

/// Follows a rollout; the exit code says the last verdict.
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
        let follower = Follower::start(&cluster, &name).await?;
        Ok(Watch { flags, cluster, follower, commands: flags.cluster.for_commands(None) })
    }
    .await;
    let watch = match started {
        Ok(watch) => watch,
        Err(failure) => {
            talk(failure.lines().trim_end());
            return ExitCode::FAILURE;
        }
    };
    let (began, waiting) = (Instant::now(), flags.limits.begin());
    let ended = if on_screen(flags) { watch.show(waiting).await } else { watch.tell(waiting).await };
    match ended {
        Ok(End::Seen(report)) => {
            flags.limits.tell_timeout(began, report.verdict);
            exit_code(report.verdict)
        }
        Ok(End::Gone) => fail(&format!("deployment/{name} is gone")),
        Err(message) => fail(&message),
    }
}

fn on_screen(flags: &WatchFlags) -> bool {
    !flags.lines && !paint::is_dumb() && io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// A rollout that is being followed.
struct Watch<'a> {
    flags: &'a WatchFlags,
    cluster: Cluster,
    follower: Follower,
    commands: why::CommandFlags,
}

impl Watch<'_> {
    /// Whether a look at the rollout was the last one.
    fn is_over(&self, waiting: &mut WaitPolicy, report: &why::Report) -> bool {
        let next = waiting.next(report.now, std::slice::from_ref(report));
        let is_timeout = waiting.is_timeout(report.now);
        next == WaitDecision::End && (is_timeout || !self.flags.stay)
    }

    /// On the screen, until it is over or `q` is typed.
    async fn show(&self, mut waiting: WaitPolicy) -> Result<End, String> {
        let clock = Clock::system();
        // Opened when there is something to follow: what is over already needs no screen.
        let mut terminal = None;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = loop {
            let Some(snapshot) = snapshot(&self.follower)? else { break End::Gone };
            let standing = RolloutState::of(clock.now(), &snapshot);
            let report = why::report(&standing, &self.commands);
            if self.is_over(&mut waiting, &report) {
                break End::Seen(Box::new(report));
            }
            let terminal = match &mut terminal {
                Some(terminal) => terminal,
                none => none
                    .insert(Terminal::open().map_err(|error| format!("cannot use the terminal: {error}"))?),
            };
            let mut lines = live::frame(&standing, terminal.canvas());
            if let (Some(trouble), Some(last)) = (self.follower.trouble(), lines.last_mut()) {
                *last = Line::of(Style::Bad, &format!("connection lost, trying again: {trouble}"));
            }
            terminal.draw(&lines).map_err(|error| format!("cannot write: {error}"))?;
            let drawn = Instant::now();
            tokio::select! {
                input = terminal.input() => match input {
                    Input::Quit => break End::Seen(Box::new(report)),
                    Input::Resized => {}
                },
                () = self.follower.changed() => tokio::time::sleep_until(drawn + BETWEEN_FRAMES).await,
                _ = tick.tick() => {}
            }
        };
        drop(terminal);
        if let End::Seen(report) = &end {
            self.say_last(report).await?;
        }
        Ok(end)
    }

    /// What stays on the terminal when the screen is gone: the whole report if there is something to do.
    async fn say_last(&self, report: &why::Report) -> Result<(), String> {
        if report.verdict != why::Verdict::Stuck {
            print(&format!("{}\n", report.sentence()));
            return Ok(());
        }
        let Some(mut objects) = self.follower.objects() else { return Ok(()) };
        // The advice depends on them, the screen does not.
        objects.nodes = gather::nodes(&self.cluster, &objects.pods).await;
        let snapshot = parsed(objects)?;
        let report = why::explain(report.now, &snapshot, &self.commands);
        print(&paint::page(&why::lines(&report, paint::columns())));
        Ok(())
    }

    /// In lines, until it is over.
    async fn tell(&self, mut waiting: WaitPolicy) -> Result<End, String> {
        let clock = Clock::system();
        let mut log = Log::new();
        let mut trouble = None;
        loop {
            let Some(snapshot) = snapshot(&self.follower)? else { return Ok(End::Gone) };
            let report = why::explain(clock.now(), &snapshot, &self.commands);
            for line in log.next(&snapshot, &report) {
                match writeln!(io::stdout(), "{line}") {
                    // The reader has seen what it wanted to see.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Ok(End::Seen(Box::new(report)));
                    }
                    written => written.map_err(|error| format!("cannot write: {error}"))?,
                }
            }
            if self.is_over(&mut waiting, &report) {
                return Ok(End::Seen(Box::new(report)));
            }
            let now_in_trouble = self.follower.trouble();
            if now_in_trouble != trouble
                && let Some(what) = &now_in_trouble
            {
                talk(&format!("note: connection lost, trying again: {what}"));
            }
            trouble = now_in_trouble;
            tokio::select! {
                () = self.follower.changed() => tokio::time::sleep(BETWEEN_FRAMES).await,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }
}

/// What there is to see now; `None` when the Deployment is gone.
fn snapshot(follower: &Follower) -> Result<Option<Snapshot>, String> {
    follower.objects().map(parsed).transpose()
}

fn parsed(objects: ApiObjects) -> Result<Snapshot, String> {
    Snapshot::parse(objects).map_err(|error| format!("the server's answer cannot be read: {error}"))
}
