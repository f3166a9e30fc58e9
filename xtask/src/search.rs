//! `cargo xtask search`: the long and random searches, which are too much for CI. What they find is kept as tests.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use crate::install;

/// How `search` is typed.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask search [NAME]
       cargo xtask search wire --left KUBECONFIG --right KUBECONFIG [OPTIONS]

Run the long searches, optimised and one after the other: random worlds judged after every sync, any input to any
decision, thousands of simulated crashes and hundreds of real ones, concurrent histories under faults, damaged
files. Takes an hour or more. Every failure prints a seed and how to run it alone; keep it as a test.

  NAME   Only the searches whose name contains this: worlds, decisions, registry, store, apiserver, fuzz, etcd

`wire` sends the same random requests to a real Kubernetes (left) and to Gantry (right) and shows where the answers
differ; exit status 1 if they do. Neither server should run controllers. Only run when asked for by its name.

  --left KUBECONFIG    A real Kubernetes, to be thrown away afterwards
  --right KUBECONFIG   The server that is compared with it
  --seeds A:B          The seeds to try in each family (default: 0:100)
  --family FAMILIES    Only these: objects, custom, subresources, lists, watches, managers
  --kinds RESOURCES    Only these resources, such as pods,services
  --cache DIRECTORY    Keep Kubernetes' answers here, and do not ask again what was kept
  --lines N            How many lines to show of each difference
  --jobs N             How many cases to play at a time
  --show               Also show every request with both answers
";

/// How long each fuzz target is run.
const FUZZ_MILLISECONDS: &str = "1800000";

/// One search: a name, what cargo tests, and how many cases proptest tries (zero: it decides by GANTRY_LONG alone).
struct Search {
    name: &'static str,
    words: &'static [&'static str],
    cases: u32,
}

const SEARCHES: &[Search] = &[
    Search { name: "worlds", words: &["--package", "gantry-sim", "--test", "properties"], cases: 100_000 },
    Search { name: "decisions", words: &["--package", "gantry-decide"], cases: 50_000 },
    Search {
        name: "registry",
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
    Search {
        name: "store",
        words: &["--package", "gantry-store", "--package", "gantry-store-embedded"],
        cases: 10_000,
    },
    Search { name: "apiserver", words: &["--package", "gantry", "--test", "crash"], cases: 0 },
    Search { name: "fuzz", words: &["--package", "gantry-apiserver", "--test", "fuzz"], cases: 0 },
    Search { name: "etcd", words: &["--package", "gantry-store-etcd"], cases: 0 },
];

/// Runs the searches asked for.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(("wire", options)) = arguments.split_first().map(|(name, options)| (name.as_str(), options)) {
        return wire(options);
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
    install::ensure(install::FOR_TESTS)?;
    let root = cargo::repository_root()?;
    for search in wanted {
        console::talk(&format!("== {}", search.name));
        let mut command = cargo(&root, &["test", "--release"]);
        command
            .args(search.words)
            .env("GANTRY_LONG", "1")
            .env("BOLERO_RANDOM_TEST_TIME_MS", FUZZ_MILLISECONDS);
        if search.cases > 0 {
            command.env("PROPTEST_CASES", search.cases.to_string());
        }
        cargo::run(&mut command)?;
    }
    Ok(())
}

/// Builds and starts the comparison of two servers, which reads its options itself.
fn wire(options: &[String]) -> Result<(), Failure> {
    let root = cargo::repository_root()?;
    let mut command = cargo(&root, &["run", "--quiet", "--package", "gantry-wire-diff", "--"]);
    // Files are named as from where the command was typed.
    if let Ok(directory) = std::env::current_dir() {
        command.current_dir(directory);
    }
    cargo::run(command.args(options))
}
