//! Attacks a running API server, and measures a quiet client beside a noisy one. Started by `cargo xtask search attack` and
//! `cargo xtask search noisy`; never part of the product.
//!
//! A seed determines a [`case::Case`], a list of steps as a value ([`families`]). Cases are played ([`play`]) against a
//! server in a process of its own, whose memory and log are watched ([`search`]), while a probe on its own connection
//! measures how long small requests wait ([`probe`]). The machine may be busy with other processes: the delay that they
//! cause is measured ([`machine`]) and not attributed to the server.

mod case;
mod connection;
mod families;
mod http1;
mod http2;
mod latency;
mod machine;
mod noisy;
mod play;
mod probe;
mod search;
mod server;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum as _};

use families::Family;

/// Attack an API server, or measure a quiet client beside a noisy one
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xtask search")]
enum Command {
    /// Attack a server with random hostile requests; exit status 1 if it fails
    Attack(AttackOptions),
    /// Measure a quiet client alone and beside a noisy one; exit status 1 if the noisy one slows it down too much
    Noisy(NoisyOptions),
}

#[derive(Clone, Debug, clap::Args)]
struct AttackOptions {
    /// The server: a release build of gantry
    #[arg(long, value_name = "FILE")]
    binary: PathBuf,
    /// How long to attack
    #[arg(long, value_name = "N", default_value_t = 60)]
    minutes: u64,
    /// The seeds to play in each family: the first, and the one after the last
    #[arg(long, value_name = "A:B", default_value = "0:1000000000", value_parser = seeds)]
    seeds: (u64, u64),
    /// Only these families
    #[arg(long, value_name = "FAMILIES", value_delimiter = ',')]
    family: Vec<Family>,
    /// How many cases to play at a time
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// How many megabytes of memory the server may take
    #[arg(long, value_name = "MB", default_value_t = 512)]
    memory_limit: u64,
    /// Print the steps of the cases, and send nothing
    #[arg(long)]
    print: bool,
    #[arg(skip)]
    directory: PathBuf,
}

#[derive(Clone, Debug, clap::Args)]
struct NoisyOptions {
    /// The server: a release build of gantry
    #[arg(long, value_name = "FILE")]
    binary: PathBuf,
    /// How long to measure, alone and beside the noise
    #[arg(long, value_name = "N", default_value_t = 30)]
    seconds: u64,
    /// How many times longer the quiet client may wait beside the noise, at its 99th percentile
    #[arg(long, value_name = "N", default_value_t = 5)]
    factor: u32,
    #[arg(skip)]
    directory: PathBuf,
}

impl AttackOptions {
    fn families(&self) -> &[Family] {
        if self.family.is_empty() { Family::value_variants() } else { &self.family }
    }
}

fn seeds(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once(':').and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
    parsed.filter(|(first, end)| first < end).ok_or_else(|| "expected two numbers such as 0:100".to_owned())
}

/// How much lower the priority of the threads that make noise is.
const NICENESS: i32 = 10;

fn main() -> ExitCode {
    let command = Command::parse();
    // The measurement is about the server, not about its competition with the attackers for processors.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // Deeply nested values are encoded recursively.
        .thread_stack_size(64 << 20)
        .worker_threads(2)
        .on_thread_start(|| {
            let _ = rustix::process::nice(NICENESS);
        })
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(command)),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Runs a command; returns whether the server passed.
async fn run(command: Command) -> Result<bool, String> {
    let (lines, passed) = match command {
        Command::Attack(options) if options.print => (search::printed(&options), true),
        Command::Attack(mut options) => {
            options.directory = search::server_directory();
            let report = search::attack(options).await?;
            (report.figures(), !report.has_findings())
        }
        Command::Noisy(mut options) => {
            options.directory = search::server_directory();
            let report = noisy::measure(&options).await?;
            (report.figures(), report.passed())
        }
    };
    for line in lines {
        say(&line);
    }
    say(if passed { "passed" } else { "FAILED" });
    Ok(passed)
}

/// Prints a line.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
