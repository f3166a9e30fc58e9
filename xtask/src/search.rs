//! `cargo xtask search`: the long and random searches, which are too long for CI. Found failures are kept as tests.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use crate::{dependencies, install, sim, sim_mutants};
use std::path::Path;
use std::process::Command;

/// The usage of `search`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask search [NAME]
       cargo xtask search attack|explore|noisy|wire [OPTIONS]

Run the long searches, optimised and one after the other: all states of small rollouts, 100,000 scenarios with faults and the
mutants (see `cargo xtask sim`), any input to any decision, thousands of simulated crashes and hundreds of real ones,
concurrent histories under faults, damaged files, an hour of attacks on the running server, a quiet client next to a noisy one, and the
dependencies. Takes hours. Every failure prints a seed and how to run it alone; keep it as a test.

  NAME   Only the searches whose name contains this: explore, scenarios, decisions, registry, store, apiserver, fuzz, etcd,
         attack, noisy, dependencies

`attack` sends random hostile YAML, JSON, protobuf, patches, headers, queries, definitions and frames to a server of its
own, in memory, while a probe sends a small request every 100 ms; exit status 1 if the server ends, takes more memory than
allowed, panics, returns 500, or delays the probe by more than a second. Delays that the rest of the machine causes
are measured and do not count.

  --minutes N          How long to attack (default: 60)
  --seeds A:B          The seeds to play in each family; a failure prints those that were played at the time
  --family FAMILIES    Only these: yaml, json, protobuf, patches, headers, queries, columns, rules, frames, readers, floods
  --jobs N             How many cases to play at a time (default: 4)
  --memory-limit MB    How much memory the server may take (default: 512)

`explore` visits every state of small rollouts: every order of actions, with a crash, a delayed watch or a failed write between any
two writes. Prints the number of states, or the shortest path to a violated property; exit status 1 then. Worlds with more states
than allowed are aborted, and counted separately.

  --quick              Only the worlds of the tests
  --only TEXT          Only the worlds whose line contains this
  --jobs N             How many worlds to explore at a time (default: 2)
  --states-max N       The maximum number of states of a world (default: 200000)

`noisy` measures how long a quiet client waits alone and next to one that lists, creates, watches and reads slowly, and
how long a rollout takes; exit status 1 if the 99th percentile of the waits grows more than fivefold.

  --seconds N          How long to measure each (default: 30)
  --factor N           How much longer the quiet client may wait (default: 5)

`dependencies` runs `cargo deny check` with a cargo-deny that it installs below target/tools: licences, duplicates, sources,
and advisories if GANTRY_ADVISORY_DB is the directory of a clone of RustSec's advisory-db, or its URL.

`wire` sends the same random requests to a real Kubernetes (left) and to Gantry (right) and shows where the responses
differ; exit status 1 if they do. Neither server should run controllers. Only run when requested by its name.

  --left KUBECONFIG    A real Kubernetes, to be thrown away afterwards
  --right KUBECONFIG   The server that is compared with it
  --seeds A:B          The seeds to try in each family (default: 0:100)
  --family FAMILIES    Only these: objects, custom, subresources, lists, watches, managers
  --kinds RESOURCES    Only these resources, such as pods,services
  --cache DIRECTORY    Cache Kubernetes' responses here, and do not repeat cached requests
  --lines N            How many lines to show of each difference
  --jobs N             How many cases to play at a time
  --show               Also show every request with both responses
";

/// How long each fuzz target runs.
const FUZZ_MILLISECONDS: &str = "1800000";

/// The number of scenarios.
const SCENARIO_SEEDS: &str = "100000";

/// One search: its name, and how it runs.
struct Search {
    name: &'static str,
    run: Run,
}

/// How a search is run.
enum Run {
    /// The arguments of `cargo test`, and the number of cases of proptest (zero: GANTRY_LONG alone decides).
    Tests { words: &'static [&'static str], cases: u32 },
    /// A command of the crate `attack`.
    Attack(&'static str),
    /// The command of the crate `explore`.
    Explore,
    /// Scenarios on a simulated cluster.
    Scenarios,
    /// A check of the dependencies.
    Dependencies,
}

const SEARCHES: &[Search] = &[
    Search { name: "explore", run: Run::Explore },
    Search { name: "scenarios", run: Run::Scenarios },
    Search { name: "decisions", run: Run::Tests { words: &["--package", "gantry-decide"], cases: 50_000 } },
    Search {
        name: "registry",
        run: Run::Tests {
            words: &[
                "--package",
                "gantry-primitives",
                "--package",
                "gantry-cel",
                "--package",
                "gantry-schema",
                "--package",
                "gantry-patch",
                "--package",
                "gantry-managed-fields",
                "--package",
                "gantry-registry",
            ],
            cases: 50_000,
        },
    },
    Search {
        name: "store",
        run: Run::Tests {
            words: &["--package", "gantry-store", "--package", "gantry-store-embedded"],
            cases: 10_000,
        },
    },
    Search {
        name: "apiserver",
        run: Run::Tests { words: &["--package", "gantry", "--test", "crash"], cases: 0 },
    },
    Search {
        name: "fuzz",
        run: Run::Tests { words: &["--package", "gantry-apiserver", "--test", "fuzz"], cases: 0 },
    },
    Search { name: "etcd", run: Run::Tests { words: &["--package", "gantry-store-etcd"], cases: 0 } },
    Search { name: "attack", run: Run::Attack("attack") },
    Search { name: "noisy", run: Run::Attack("noisy") },
    Search { name: "dependencies", run: Run::Dependencies },
];

/// Runs the requested searches.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = cargo::repository_root()?;
    match arguments.split_first().map(|(name, options)| (name.as_str(), options)) {
        Some(("wire", options)) => return wire(&root, options),
        Some((name @ ("attack" | "noisy"), options)) => return attack(&root, name, options),
        Some(("explore", options)) => return explore(&root, options),
        _ => {}
    }
    let name = match arguments {
        [] => "",
        [name] if !name.starts_with('-') => name.as_str(),
        [other, ..] => return Err(Failure::unknown_argument(other)),
    };
    let wanted: Vec<&Search> = SEARCHES.iter().filter(|search| search.name.contains(name)).collect();
    if wanted.is_empty() {
        return Err(Failure::Usage(format!("no search is called `{name}`")));
    }
    for Search { name, run } in wanted {
        console::talk(&format!("== {name}"));
        match run {
            Run::Tests { words, cases } => tests(&root, words, *cases)?,
            Run::Attack(command) => attack(&root, command, &[])?,
            Run::Explore => explore(&root, &[])?,
            Run::Scenarios => {
                sim::play(&root, &["--seeds", SCENARIO_SEEDS])?;
                sim_mutants::run(&root, "")?;
            }
            Run::Dependencies => dependencies::check(&root)?,
        }
    }
    Ok(())
}

/// Runs tests with this number of cases.
fn tests(root: &Path, words: &[&str], cases: u32) -> Result<(), Failure> {
    install::ensure(install::FOR_TESTS)?;
    let mut command = cargo(root, &["test", "--release"]);
    command.args(words).env("GANTRY_LONG", "1").env("BOLERO_RANDOM_TEST_TIME_MS", FUZZ_MILLISECONDS);
    if cases > 0 {
        command.env("PROPTEST_CASES", cases.to_string());
    }
    cargo::run(&mut command)
}

/// Builds and starts the model checker, which reads its options itself.
fn explore(root: &Path, options: &[String]) -> Result<(), Failure> {
    let mut command = cargo(root, &["run", "--release", "--quiet", "--package", "gantry-explore", "--"]);
    cargo::run(command.args(options))
}

/// Builds the server and its attacker, and starts a command of the latter, which reads its options itself.
fn attack(root: &Path, name: &str, options: &[String]) -> Result<(), Failure> {
    cargo::run(&mut cargo(
        root,
        &["build", "--release", "--package", "gantry", "--package", "gantry-attack"],
    ))?;
    let binaries = root.join("target/release");
    let mut command = Command::new(binaries.join("attack"));
    cargo::run(command.arg(name).arg("--binary").arg(binaries.join("gantry")).args(options))
}

/// Builds and starts the comparison of two servers, which reads its options itself.
fn wire(root: &Path, options: &[String]) -> Result<(), Failure> {
    let mut command = cargo(root, &["run", "--quiet", "--package", "gantry-wire-diff", "--"]);
    // File names are relative to the current directory of the user.
    if let Ok(directory) = std::env::current_dir() {
        command.current_dir(directory);
    }
    cargo::run(command.args(options))
}
