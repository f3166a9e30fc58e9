//! Plays scenarios of many seeds and reports those in which a rule is broken. Started by `cargo xtask sim`; never part of the product.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use clap::Parser;
use gantry_sim::scenario::{Played, SimScenario, minimise, play, play_with_journal};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Play scenarios on a simulated cluster; exit status 1 if a rule is broken
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xtask sim")]
struct Command {
    /// How many seeds to play
    #[arg(long, value_name = "N", default_value_t = 1000)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 0)]
    from: u64,
    /// How long to play, instead of a number of seeds
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,
    /// Play one seed, and print what happens and the smallest scenario in which the same rule is broken
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// How many scenarios to play at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Stop after this many broken scenarios
    #[arg(long, value_name = "N", default_value_t = 10)]
    broken: usize,
}

/// What was played so far.
#[derive(Debug, Default)]
struct Progress {
    played: u64,
    simulated: Duration,
    writes: u64,
    broken: Vec<u64>,
}

fn main() -> ExitCode {
    let command = Command::parse();
    match command.seed {
        Some(seed) => play_one(seed),
        None => play_many(&command),
    }
}

fn play_many(command: &Command) -> ExitCode {
    let began = Instant::now();
    let until = command.minutes.map(|minutes| began + Duration::from_secs(60 * minutes));
    let last = if until.is_some() { u64::MAX } else { command.from.saturating_add(command.seeds) };
    let (next, progress) = (Mutex::new(command.from), Mutex::new(Progress::default()));
    std::thread::scope(|scope| {
        for _ in 0..command.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = {
                        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                        *next += 1;
                        *next - 1
                    };
                    let is_late = until.is_some_and(|until| Instant::now() >= until);
                    if seed >= last || is_late || count(&progress).broken.len() >= command.broken {
                        return;
                    }
                    note(&progress, seed, &play(&SimScenario::of_seed(seed)), began);
                }
            });
        }
    });
    let progress = count(&progress);
    say(&summary(&progress, began));
    if progress.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn count(progress: &Mutex<Progress>) -> std::sync::MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(progress: &Mutex<Progress>, seed: u64, played: &Played, began: Instant) {
    let mut progress = count(progress);
    progress.played += 1;
    progress.simulated += played.simulated;
    progress.writes += played.writes;
    if let Some((at, finding)) = &played.violation {
        progress.broken.push(seed);
        say(&format!("seed {seed}, after {:.3} s: {finding}", at.as_secs_f64()));
        say(&format!("  again: cargo xtask sim --seed {seed}"));
    }
    if progress.played.is_multiple_of(1000) {
        say(&summary(&progress, began));
    }
}

fn summary(progress: &Progress, began: Instant) -> String {
    let Progress { played, simulated, writes, broken } = progress;
    let (took, hours) = (began.elapsed().as_secs_f64(), simulated.as_secs_f64() / 3600.0);
    let times = simulated.as_secs_f64() / took.max(0.001);
    format!(
        "{played} seeds in {took:.1} s: {hours:.0} simulated hours ({times:.0} times real time), {writes} writes, {} broken",
        broken.len()
    )
}

fn play_one(seed: u64) -> ExitCode {
    let scenario = SimScenario::of_seed(seed);
    let played = play_with_journal(&scenario);
    say(&played.journal);
    say(&format!("{scenario}"));
    let Some((at, finding)) = played.violation else {
        say(&format!("no rule is broken in {:.0} s", played.simulated.as_secs_f64()));
        return ExitCode::SUCCESS;
    };
    say(&format!("after {:.3} s: {finding}", at.as_secs_f64()));
    let smallest = minimise(&scenario);
    say(&format!("\nthe smallest scenario found in which this rule is broken:\n{smallest}"));
    ExitCode::FAILURE
}

fn say(text: &str) {
    // A closed standard output cannot be reported anywhere.
    let _ = writeln!(std::io::stdout(), "{text}");
}
