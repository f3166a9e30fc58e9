//! Plays scenarios of many seeds and reports those in which a rule is broken. Started by `cargo xtask sim`; not part of
//! the product.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::Parser;
use gantry_sim::scenario::{Played, SimScenario, minimise, play, play_with_journal};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

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
    /// How many scenarios to play at a time; by default as many as there are cores
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Stop after this many broken scenarios
    #[arg(long, value_name = "N", default_value_t = 10)]
    broken: usize,
}

/// How often the summary is printed, from which a killed run can be continued.
const PRINT_EVERY: Duration = Duration::from_secs(60);

/// The progress so far.
#[derive(Debug)]
struct Progress {
    began: Instant,
    /// When the summary was last printed.
    printed_at: Instant,
    /// The first seed.
    from: u64,
    /// The seeds that have begun and not ended.
    playing: BTreeSet<u64>,
    /// The seed after the last that has begun.
    next: u64,
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
    let progress = Mutex::new(Progress::new(command.from));
    let jobs = command.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let Some(seed) = locked(&progress).begin(command) else { return };
                    let played = play(&SimScenario::of_seed(seed));
                    locked(&progress).end(seed, &played);
                }
            });
        }
    });
    let progress = locked(&progress);
    print(&progress.summary());
    if progress.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn locked(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    fn new(from: u64) -> Self {
        Self {
            began: Instant::now(),
            printed_at: Instant::now(),
            from,
            playing: BTreeSet::new(),
            next: from,
            played: 0,
            simulated: Duration::ZERO,
            writes: 0,
            broken: Vec::new(),
        }
    }

    /// The next seed to play, if there is one.
    fn begin(&mut self, command: &Command) -> Option<u64> {
        let is_last = match command.minutes {
            Some(minutes) => self.began.elapsed() >= Duration::from_secs(60 * minutes),
            None => self.next >= self.from.saturating_add(command.seeds),
        };
        if is_last || self.broken.len() >= command.broken {
            return None;
        }
        let seed = self.next;
        self.next += 1;
        self.playing.insert(seed);
        Some(seed)
    }

    fn end(&mut self, seed: u64, played: &Played) {
        self.playing.remove(&seed);
        self.played += 1;
        self.simulated += played.simulated;
        self.writes += played.writes;
        if let Some((at, finding)) = &played.violation {
            self.broken.push(seed);
            print(&format!("seed {seed}, after {:.3} s: {finding}", at.as_secs_f64()));
            print(&format!("  again: cargo xtask sim --seed {seed}"));
        }
        if self.printed_at.elapsed() >= PRINT_EVERY {
            self.printed_at = Instant::now();
            print(&self.summary());
        }
    }

    /// The number of played seeds, the time, and the seed to continue from: all seeds before that one have been played.
    fn summary(&self) -> String {
        let Self { from, played, simulated, writes, broken, .. } = self;
        let (real, hours) = (self.began.elapsed().as_secs_f64(), simulated.as_secs_f64() / 3600.0);
        let times = simulated.as_secs_f64() / real.max(0.001);
        let cpu = cpu_seconds().map_or_else(String::new, |cpu| format!(", {cpu:.1} s of CPU"));
        let next = self.playing.first().unwrap_or(&self.next);
        format!(
            "{played} seeds from {from} on: {} violations, {writes} writes, {hours:.1} simulated hours in {real:.1} s{cpu}, \
             {times:.0} times real time; to go on: --from {next}",
            broken.len()
        )
    }
}

/// The CPU time of this process, if the system reports it.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name of the program: the user and the system time are the 12th and 13th field, in hundredths of a second.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut hundredths = || fields.next()?.parse::<f64>().ok();
    Some((hundredths()? + hundredths()?) / 100.0)
}

fn play_one(seed: u64) -> ExitCode {
    let scenario = SimScenario::of_seed(seed);
    let played = play_with_journal(&scenario);
    print(&played.journal);
    print(&format!("{scenario}"));
    let Some((at, finding)) = played.violation else {
        print(&format!("no rule is broken in {:.0} s", played.simulated.as_secs_f64()));
        return ExitCode::SUCCESS;
    };
    print(&format!("after {:.3} s: {finding}", at.as_secs_f64()));
    let smallest = minimise(&scenario);
    print(&format!("\nthe smallest scenario found in which this rule is broken:\n{smallest}"));
    ExitCode::FAILURE
}

fn print(text: &str) {
    // A failure to write to standard output cannot be reported anywhere.
    let _ = writeln!(std::io::stdout(), "{text}");
}
