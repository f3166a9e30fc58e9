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
    /// Replaces it. `BROKEN` stands for whether this mutant is played.
    after: &'static str,
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "one pod more than the surge",
        file: "crates/decide/src/deployment/limits.rs",
        before: "let limit = desired + round_up(limits.surge, desired);",
        after: "let limit = desired + round_up(limits.surge, desired) + i64::from(BROKEN);",
    },
    Mutant {
        name: "one pod fewer than the availability floor",
        file: "crates/decide/src/deployment/limits.rs",
        before: "        self.desired - self.unavailable\n",
        after: "        self.desired - self.unavailable - i64::from(BROKEN)\n",
    },
    Mutant {
        name: "creations are not expected",
        file: "crates/decide/src/replica_set/manage.rs",
        before: "Self::Create { count, .. } => expectations.expect_creations(now, set, *count),",
        after: "Self::Create { .. } if BROKEN => {}
            Self::Create { count, .. } => expectations.expect_creations(now, set, *count),",
    },
    Mutant {
        name: "deletions are not expected",
        file: "crates/decide/src/replica_set/manage.rs",
        before: "Self::Delete { pods } => expectations.expect_deletions(now, set, pods),",
        after: "Self::Delete { .. } if BROKEN => {}
            Self::Delete { pods } => expectations.expect_deletions(now, set, pods),",
    },
    Mutant {
        name: "the collector orphans nothing",
        file: "crates/decide/src/gc/orphan.rs",
        before: "filter(|dependent| dependent.uid() != owner);",
        after: "filter(|dependent| (dependent.uid() != owner) != BROKEN);",
    },
    Mutant {
        name: "sets are not cleaned up",
        file: "crates/decide/src/deployment/rolling.rs",
        before: "            if was_complete {\n",
        after: "            if was_complete && !BROKEN {\n",
    },
    Mutant {
        name: "one set fewer is kept than the history limit",
        file: "crates/decide/src/deployment/history.rs",
        before: "let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));",
        after: "let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let excess = (excess + usize::from(BROKEN)).min(kept.len());",
    },
    Mutant {
        name: "a rollout is complete before its pods are available",
        file: "crates/decide/src/deployment/conditions.rs",
        before: "        && status.available == deployment.replicas\n",
        after: "        && (status.available == deployment.replicas || BROKEN)\n",
    },
];

/// The most seeds in which a mutant has to be noticed.
const SEEDS: &str = "10000";

/// Says which mutant is played: its place in the list.
const VARIABLE: &str = "GANTRY_BROKEN_RULE";

/// Is added to the crate of the mutants, in the copy only.
const SWITCH: &str = r#"
/// Whether the rule with this number is broken on purpose.
pub(crate) fn is_broken(number: usize) -> bool {
    static BROKEN: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    let broken = BROKEN.get_or_init(|| std::env::var("GANTRY_BROKEN_RULE").ok()?.parse().ok());
    *broken == Some(number)
}
"#;

/// Builds a simulator with all mutants from a copy of the repository, and plays one after the other.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let copy = root.join("target/mutants");
    copy_sources(root, &copy)?;
    for (number, mutant) in MUTANTS.iter().enumerate() {
        mutate(&copy, number, mutant)?;
    }
    let library = copy.join("crates/decide/src/lib.rs");
    write(&library, &(read(&library)? + SWITCH))?;
    // With the dependencies that are built already.
    let target = root.join("target");
    let mut build =
        cargo(&copy, &["build", "--release", "--package", "gantry-sim", "--bin", "sim", "--target-dir"]);
    cargo::run(build.arg(&target))?;
    // Moved away: the next build of the simulator has the same place.
    let simulator = copy.join("sim");
    fs::rename(target.join("release/sim"), &simulator)
        .map_err(|error| Failure::Failed(format!("cannot move the simulator: {error}")))?;
    let mut unnoticed = Vec::new();
    for (number, mutant) in MUTANTS.iter().enumerate() {
        console::talk(&format!("== {}", mutant.name));
        let mut played = Command::new(&simulator);
        played.env(VARIABLE, number.to_string()).args(["--seeds", SEEDS, "--broken", "1"]);
        // The simulator fails if a rule is broken, which is what a mutant is for.
        if cargo::run(&mut played).is_ok() {
            unnoticed.push(mutant.name);
        }
    }
    if unnoticed.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("not noticed within {SEEDS} seeds: {}", unnoticed.join(", "))))
}

/// Copies what the simulator is built from; what was built there before stays.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("cannot copy the sources: {error}"));
    fs::create_dir_all(copy).map_err(failed)?;
    let mut command = Command::new("cp");
    command.current_dir(root).args(["-r", "Cargo.toml", "Cargo.lock", "crates", "xtask"]);
    cargo::run(command.arg(copy))
}

/// Makes a place of the sources do something else if the mutant of this number is played.
fn mutate(copy: &Path, number: usize, mutant: &Mutant) -> Result<(), Failure> {
    let path = copy.join(mutant.file);
    let text = read(&path)?;
    if text.matches(mutant.before).count() != 1 {
        let message =
            format!("{} has not exactly one `{}`; update the mutant", mutant.file, mutant.before.trim());
        return Err(Failure::Failed(message));
    }
    let after = mutant.after.replace("BROKEN", &format!("crate::is_broken({number})"));
    write(&path, &text.replace(mutant.before, &after))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))
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
            assert!(mutant.after.contains("BROKEN"), "{}", mutant.name);
        }
    }
}
