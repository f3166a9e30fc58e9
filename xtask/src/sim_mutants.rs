//! `cargo xtask sim --mutants`: breaks one rule after the other on purpose, and expects the simulator to notice each.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A rule that is broken on purpose.
struct Mutant {
    name: &'static str,
    file: &'static str,
    /// Occurs once in the file.
    before: &'static str,
    after: &'static str,
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "one pod more than the surge",
        file: "crates/decide/src/deployment/limits.rs",
        before: "let limit = desired + round_up(limits.surge, desired);",
        after: "let limit = desired + round_up(limits.surge, desired) + 1;",
    },
    Mutant {
        name: "one pod fewer than the availability floor",
        file: "crates/decide/src/deployment/limits.rs",
        before: "        self.desired - self.unavailable\n",
        after: "        self.desired - self.unavailable - 1\n",
    },
    Mutant {
        name: "creations are not expected",
        file: "crates/decide/src/replica_set/manage.rs",
        before: "Self::Create { count, .. } => expectations.expect_creations(now, set, *count),",
        after: "Self::Create { .. } => {}",
    },
    Mutant {
        name: "the collector orphans nothing",
        file: "crates/decide/src/gc/orphan.rs",
        before: "filter(|dependent| dependent.uid() != owner);",
        after: "filter(|dependent| dependent.uid() == owner);",
    },
    Mutant {
        name: "sets are not cleaned up",
        file: "crates/decide/src/deployment/rolling.rs",
        before: "            if was_complete {\n",
        after: "            if false && was_complete {\n",
    },
];

/// The most seeds in which a mutant has to be noticed.
const SEEDS: &str = "10000";

/// Builds and plays every mutant in a copy of the repository.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let copy = root.join("target/mutants");
    let mut unnoticed = Vec::new();
    copy_sources(root, &copy)?;
    for mutant in MUTANTS {
        console::talk(&format!("== {}", mutant.name));
        let original = mutate(&copy, mutant)?;
        cargo::run(&mut simulator(&copy, "build", &[]))?;
        // The simulator fails if a rule is broken, which is what a mutant is for.
        if cargo::run(&mut simulator(&copy, "run", &["--", "--seeds", SEEDS, "--broken", "1"])).is_ok() {
            unnoticed.push(mutant.name);
        }
        write(&copy.join(mutant.file), &original)?;
    }
    if unnoticed.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("not noticed within {SEEDS} seeds: {}", unnoticed.join(", "))))
}

fn simulator(copy: &Path, verb: &str, options: &[&str]) -> Command {
    let mut command = cargo(copy, &[verb, "--release", "--package", "gantry-sim", "--bin", "sim"]);
    command.args(options);
    command
}

/// Copies what the simulator is built from; what was built there before stays.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("cannot copy the sources: {error}"));
    fs::create_dir_all(copy).map_err(failed)?;
    let mut command = Command::new("cp");
    command.current_dir(root).args(["-r", "Cargo.toml", "Cargo.lock", "crates", "xtask"]);
    cargo::run(command.arg(copy))
}

/// Changes the source and returns what it was.
fn mutate(copy: &Path, mutant: &Mutant) -> Result<String, Failure> {
    let path = copy.join(mutant.file);
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))?;
    if text.matches(mutant.before).count() != 1 {
        let message =
            format!("{} has not exactly one `{}`; update the mutant", mutant.file, mutant.before.trim());
        return Err(Failure::Failed(message));
    }
    write(&path, &text.replace(mutant.before, mutant.after))?;
    Ok(text)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_changes_one_place_of_the_sources() {
        let root = cargo::repository_root().unwrap();
        for mutant in MUTANTS {
            let text = fs::read_to_string(root.join(mutant.file)).unwrap();
            assert_eq!(text.matches(mutant.before).count(), 1, "{}", mutant.name);
            assert_ne!(mutant.before, mutant.after);
        }
    }
}
