//! `gantry rollout watch`: follows a rollout on the screen, or in lines where there is none.
//!
//! `follow` keeps copies of the objects, `terminal` draws. What is drawn is `gantry-view`'s, and so is every line.

mod follow;
mod terminal;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gantry_decide::deployment::Deadline;
use gantry_kubectl::Failure;
use gantry_runtime::Clock;
use gantry_view::live::{self, Log};
use gantry_view::{Snapshot, Standing, why};
use tokio::time::{Instant, MissedTickBehavior};

use crate::cluster::ClusterFlags;
use crate::output::{fail, print, talk};
use crate::why::exit_code;
use crate::{cluster, gather};
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
    /// Say in lines what changes, as if there were no terminal
    #[arg(long)]
    lines: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
}

/// How watching ended.
enum End {
    /// Somebody had seen enough, or it was over; this was the last look.
    Seen(Box<why::Report>),
    /// The Deployment is gone.
    Gone,
}

/// Follows a rollout; the exit code says the last verdict.
pub(crate) fn run(flags: &WatchFlags) -> ExitCode {
    cluster::run(watch(flags))
}

async fn watch(flags: &WatchFlags) -> ExitCode {
    let name = match gather::deployment_name(&flags.deployment) {
        Ok(name) => name.to_owned(),
        Err(message) => return fail(&message),
    };
    let started: Result<Follower, Failure> =
        async { Follower::start(&flags.cluster.open().await?, &name).await }.await;
    let follower = match started {
        Ok(follower) => follower,
        Err(failure) => {
            talk(failure.lines().trim_end());
            return ExitCode::FAILURE;
        }
    };
    let ended = if on_screen(flags) { show(&follower).await } else { tell(&follower).await };
    match ended {
        Ok(End::Seen(report)) => exit_code(report.verdict),
        Ok(End::Gone) => fail(&format!("deployment/{name} is gone")),
        Err(message) => fail(&message),
    }
}

fn on_screen(flags: &WatchFlags) -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    !flags.lines && !is_dumb && io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// On the screen, until somebody quits.
async fn show(follower: &Follower) -> Result<End, String> {
    let clock = Clock::system();
    let mut terminal = Terminal::open().map_err(|error| format!("cannot use the terminal: {error}"))?;
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        let Some(snapshot) = snapshot(follower)? else { break End::Gone };
        let standing = Standing::of(clock.now(), &snapshot);
        let mut lines = live::frame(&standing, terminal.canvas());
        if let (Some(trouble), Some(last)) = (follower.trouble(), lines.last_mut()) {
            *last = live::Line::of(live::Style::Bad, &format!("connection lost, trying again: {trouble}"));
        }
        terminal.draw(&lines).map_err(|error| format!("cannot write: {error}"))?;
        let drawn = Instant::now();
        tokio::select! {
            input = terminal.input() => match input {
                Input::Quit => break End::Seen(Box::new(why::report(&standing))),
                Input::Resized => {}
            },
            () = follower.changed() => tokio::time::sleep_until(drawn + BETWEEN_FRAMES).await,
            _ = tick.tick() => {}
        }
    };
    drop(terminal);
    if let End::Seen(report) = &end {
        print(&format!("{}\n", report.sentence()));
    }
    Ok(end)
}

/// In lines, until it is done or its deadline has passed.
async fn tell(follower: &Follower) -> Result<End, String> {
    let clock = Clock::system();
    let mut log = Log::new();
    let mut trouble = None;
    loop {
        let Some(snapshot) = snapshot(follower)? else { return Ok(End::Gone) };
        let report = why::explain(clock.now(), &snapshot);
        for line in log.next(&snapshot, &report) {
            match writeln!(io::stdout(), "{line}") {
                // The reader has seen what it wanted to see.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(End::Seen(Box::new(report)));
                }
                written => written.map_err(|error| format!("cannot write: {error}"))?,
            }
        }
        if report.verdict == why::Verdict::Done || report.deadline == Deadline::Exceeded {
            return Ok(End::Seen(Box::new(report)));
        }
        let now_in_trouble = follower.trouble();
        if now_in_trouble != trouble
            && let Some(what) = &now_in_trouble
        {
            talk(&format!("note: connection lost, trying again: {what}"));
        }
        trouble = now_in_trouble;
        tokio::select! {
            () = follower.changed() => tokio::time::sleep(BETWEEN_FRAMES).await,
            () = tokio::time::sleep(TICK) => {}
        }
    }
}

/// What there is to see now; `None` when the Deployment is gone.
fn snapshot(follower: &Follower) -> Result<Option<Snapshot>, String> {
    let Some(objects) = follower.objects() else { return Ok(None) };
    Snapshot::parse(objects).map(Some).map_err(|error| format!("the server's answer cannot be read: {error}"))
}
