//! Sends the same random requests to a real Kubernetes (left) and to another API server (right) and shows where the
//! responses differ. Started by `cargo xtask search wire`; never part of the product.
//!
//! A seed determines a [`case::Case`], a list of requests as a value ([`families`]). It is played on both servers
//! ([`play`]); parts of responses that two conforming servers may choose are masked ([`mask`]), and the rest is
//! compared ([`compare`]). Each case is played twice on the left, and several times more if the response of the right
//! one differs: if Kubernetes is not deterministic, nothing is compared.

mod bases;
mod cache;
mod case;
mod compare;
mod families;
mod known;
mod mask;
mod play;
mod report;
mod schemas;
mod server;
mod trace;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Parser, ValueEnum as _};
use gantry_json::Value;

use cache::Cache;
use case::Case;
use families::Family;
use report::{Outcome, Report};
use schemas::Schemas;
use server::Server;

/// Send the same random requests to a real Kubernetes and to another API server, and show where their responses differ
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xtask search wire")]
struct Options {
    /// The kubeconfig of a real Kubernetes: an API server without controllers, to be thrown away afterwards
    #[arg(long, value_name = "KUBECONFIG")]
    left: PathBuf,
    /// The kubeconfig of the server that is compared with it
    #[arg(long, value_name = "KUBECONFIG")]
    right: PathBuf,
    /// The seeds to try in each family: the first, and the one after the last
    #[arg(long, value_name = "A:B", default_value = "0:100", value_parser = seeds)]
    seeds: (u64, u64),
    /// Only these resources, such as `pods,services`
    #[arg(long, value_name = "RESOURCES", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Only these families
    #[arg(long, value_name = "FAMILIES", value_delimiter = ',')]
    family: Vec<Family>,
    /// Keep Kubernetes' responses in this directory, and do not send requests again whose responses were kept
    #[arg(long, value_name = "DIRECTORY")]
    cache: Option<PathBuf>,
    /// How many lines to show of each difference
    #[arg(long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// How many cases to play at a time
    #[arg(long, value_name = "N", default_value_t = 8)]
    jobs: usize,
    /// Also show every request with both responses, masked
    #[arg(long)]
    show: bool,
}

fn seeds(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once(':').and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
    parsed.filter(|(first, end)| first < end).ok_or_else(|| "expected two numbers such as 0:100".to_owned())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(search(options)),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(report) => {
            report.lines().iter().for_each(|line| say(line));
            if report.has_differences() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// How often a case is played again on Kubernetes before a difference counts.
const MORE_PLAYS: usize = 16;

/// Everything that the workers share.
struct Search {
    options: Options,
    left: Server,
    right: Server,
    cache: Cache,
    schemas: Schemas,
    waiting: Mutex<VecDeque<(Family, u64)>>,
    report: Mutex<Report>,
}

async fn search(options: Options) -> Result<Report, String> {
    let (left, right) = (Server::open(&options.left).await?, Server::open(&options.right).await?);
    let cache = Cache::open(options.cache.as_deref())?;
    let versions = bases::versions();
    let schemas =
        Schemas::read(&left, &cache, &versions.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    let families = if options.family.is_empty() { Family::value_variants() } else { &options.family };
    let seeds = options.seeds.0..options.seeds.1;
    let waiting = families.iter().flat_map(|family| seeds.clone().map(|seed| (*family, seed))).collect();
    let jobs = options.jobs.max(1);
    let search = Search {
        left,
        right,
        cache,
        schemas,
        waiting: Mutex::new(waiting),
        report: Mutex::default(),
        options,
    };
    let search = Arc::new(search);
    let workers: Vec<_> = (0..jobs).map(|_| tokio::spawn(Arc::clone(&search).work())).collect();
    for worker in workers {
        worker.await.map_err(|error| error.to_string())??;
    }
    let report = search.report.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(report)
}

impl Search {
    async fn work(self: Arc<Self>) -> Result<(), String> {
        loop {
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((family, seed)) = next else { return Ok(()) };
            let case = family.case(&self.schemas, seed, &self.options.kinds);
            let outcome = self.compare(family, seed, &case).await?;
            self.report.lock().unwrap_or_else(PoisonError::into_inner).count(family, &case.kind, outcome);
        }
    }

    async fn compare(&self, family: Family, seed: u64, case: &Case) -> Result<Outcome, String> {
        let [once, again] = self.kubernetes(family, seed, case).await?;
        // Kubernetes returns no response if one of its handlers panics.
        if once != again || once.iter().any(|exchange| exchange["status"] == 0) {
            if self.options.show {
                self.show(
                    &format!("{} {seed}: undecided", family.name()),
                    &compare::explain(case, &once, &again),
                );
            }
            return Ok(Outcome::Undecided);
        }
        let other = mask::masked(case, &play::play(&self.right, case).await?);
        if self.options.show {
            show_all(case, &once, &other);
        }
        if other == once {
            return Ok(Outcome::Same);
        }
        // A difference that is caused by a busy machine does not occur a second time.
        if mask::masked(case, &play::play(&self.right, case).await?) == once {
            return Ok(Outcome::Unstable);
        }
        if let Some(reason) = known::reason(&once, &other) {
            self.show(&format!("{} {seed} {}: known: {reason}", family.name(), case.kind), &[]);
            return Ok(Outcome::Known);
        }
        // Kubernetes iterates over maps in a random order, so two plays may agree by chance.
        for _ in 0..MORE_PLAYS {
            if mask::masked(case, &play::play(&self.left, case).await?) != once {
                return Ok(Outcome::Undecided);
            }
        }
        let head = format!("{} {seed} {}: {}", family.name(), case.kind, self.replay(family, seed));
        self.show(&head, &compare::explain(case, &once, &other));
        Ok(Outcome::Different)
    }

    /// Returns the responses of Kubernetes in two plays, masked.
    async fn kubernetes(&self, family: Family, seed: u64, case: &Case) -> Result<[Vec<Value>; 2], String> {
        let name = format!("{}-{seed}", family.name());
        let plays = if let Some(plays) = self.cache.plays(&name, case) {
            plays
        } else {
            let plays = [play::play(&self.left, case).await?, play::play(&self.left, case).await?];
            self.cache.keep_plays(&name, case, &plays)?;
            plays
        };
        Ok(plays.map(|play| mask::masked(case, &play)))
    }

    /// Returns the command that plays one seed alone.
    fn replay(&self, family: Family, seed: u64) -> String {
        let Options { left, right, kinds, .. } = &self.options;
        let kinds = if kinds.is_empty() { String::new() } else { format!(" --kinds {}", kinds.join(",")) };
        let (left, right, name, end) = (left.display(), right.display(), family.name(), seed + 1);
        format!(
            "cargo xtask search wire --left {left} --right {right} --family {name} --seeds {seed}:{end}{kinds}"
        )
    }

    fn show(&self, head: &str, lines: &[String]) {
        let shown = lines.iter().take(self.options.lines).cloned();
        let more = lines.len().saturating_sub(self.options.lines);
        let more = (more > 0).then(|| format!("     … and {more} lines more"));
        say(&std::iter::once(head.to_owned()).chain(shown).chain(more).collect::<Vec<_>>().join("\n"));
    }
}

fn show_all(case: &Case, left: &[Value], right: &[Value]) {
    for (index, request) in case.recorded().enumerate() {
        say(&format!("{:#}", request.to_json()));
        say(&format!("left: {:#}", left.get(index).unwrap_or(&Value::Null)));
        say(&format!("right: {:#}", right.get(index).unwrap_or(&Value::Null)));
    }
}

#[expect(clippy::print_stdout, reason = "the one place that prints")]
fn say(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_that_is_not_empty() {
        assert_eq!(seeds("3:9"), Ok((3, 9)));
        assert!(["", "3", "9:3", "3:3", "a:b", "-1:2"].iter().all(|text| seeds(text).is_err()));
    }

    #[test]
    fn the_options_of_the_command_are_well_formed() {
        use clap::CommandFactory as _;
        Options::command().debug_assert();
    }
}
