//! `cargo xtask sim --mutants`: breaks one rule after the other on purpose, and expects the simulator to detect each.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A rule that is broken on purpose.
struct Mutant {
    name: &'static str,
    changes: &'static [Change],
}

/// A change of the sources.
struct Change {
    file: &'static str,
    /// Occurs once in the file.
    before: &'static str,
    /// Its replacement. `BROKEN` is true if this mutant is played.
    after: &'static str,
}

/// Sets do not wait until their caches show their writes. Expectations do the same for pods, so that either alone is
/// not detected.
const WRITTEN_VERSIONS: Change = Change {
    file: "crates/decide/src/replica_set/controller_state.rs",
    before: "        self.written.check(key, read)?;\n",
    after: "        if !BROKEN {
            self.written.check(key, read)?;
        }
",
};

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "one pod more than the surge",
        changes: &[Change {
            file: "crates/decide/src/deployment/limits.rs",
            before: "let limit = desired + round_up(limits.surge, desired);",
            after: "let limit = desired + round_up(limits.surge, desired) + i64::from(BROKEN);",
        }],
    },
    Mutant {
        name: "one pod fewer than the availability floor",
        changes: &[Change {
            file: "crates/decide/src/deployment/limits.rs",
            before: "        self.desired - self.unavailable\n",
            after: "        self.desired - self.unavailable - i64::from(BROKEN)\n",
        }],
    },
    Mutant {
        name: "creations are not expected",
        changes: &[
            Change {
                file: "crates/decide/src/replica_set/manage.rs",
                before: "Self::Create { count, .. } => expectations.expect_creations(now, set, *count),",
                after: "Self::Create { .. } if BROKEN => {}
            Self::Create { count, .. } => expectations.expect_creations(now, set, *count),",
            },
            WRITTEN_VERSIONS,
        ],
    },
    Mutant {
        name: "deletions are not expected",
        changes: &[Change {
            file: "crates/decide/src/replica_set/manage.rs",
            before: "Self::Delete { pods } => expectations.expect_deletions(now, set, pods),",
            after: "Self::Delete { .. } if BROKEN => {}
            Self::Delete { pods } => expectations.expect_deletions(now, set, pods),",
        }],
    },
    Mutant {
        name: "the collector orphans nothing",
        changes: &[Change {
            file: "crates/decide/src/gc/orphan.rs",
            before: "filter(|dependent| dependent.uid() != owner);",
            after: "filter(|dependent| (dependent.uid() != owner) != BROKEN);",
        }],
    },
    Mutant {
        name: "sets are not cleaned up",
        changes: &[Change {
            file: "crates/decide/src/deployment/rolling.rs",
            before: "            if was_complete {\n",
            after: "            if was_complete && !BROKEN {\n",
        }],
    },
    Mutant {
        name: "one set fewer is kept than the history limit",
        changes: &[Change {
            file: "crates/decide/src/deployment/history.rs",
            before: "let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));",
            after:
                "let excess = kept.len().saturating_sub(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let excess = (excess + usize::from(BROKEN)).min(kept.len());",
        }],
    },
    Mutant {
        name: "a rollout is complete before its pods are available",
        changes: &[Change {
            file: "crates/decide/src/deployment/conditions.rs",
            before: "        && status.available == deployment.replicas\n",
            after: "        && (status.available == deployment.replicas || BROKEN)\n",
        }],
    },
    Mutant {
        name: "a rollout continues while it is paused",
        changes: &[Change {
            file: "crates/decide/src/deployment/mod.rs",
            before: "    if deployment.paused {\n",
            after: "    if deployment.paused && !BROKEN {\n",
        }],
    },
    Mutant {
        name: "the deadline is never missed",
        changes: &[Change {
            file: "crates/decide/src/deployment/progress.rs",
            before: "fires_at(self.deployment, condition).is_some_and(|deadline| deadline < self.now),",
            after: "fires_at(self.deployment, condition).is_some_and(|deadline| deadline < self.now && !BROKEN),",
        }],
    },
    Mutant {
        name: "a revision is used again",
        changes: &[Change {
            file: "crates/decide/src/deployment/sets.rs",
            before: "        highest.saturating_add(1)\n",
            after: "        highest.saturating_add(if BROKEN && highest > 1 { 0 } else { 1 })\n",
        }],
    },
    Mutant {
        name: "scaling does not keep the proportions",
        changes: &[Change {
            file: "crates/decide/src/deployment/scaling.rs",
            before: "                    0 => 0,\n",
            after: "                    0 => 0,\n                    _ if BROKEN => 0,\n",
        }],
    },
    Mutant {
        name: "Recreate does not wait for old pods",
        changes: &[Change {
            file: "crates/decide/src/deployment/recreate.rs",
            before: "        if remaining > 0 {\n",
            after: "        if remaining > 0 && !BROKEN {\n",
        }],
    },
    Mutant {
        name: "ready pods are deleted as soon as others",
        changes: &[Change {
            file: "crates/decide/src/replica_set/victims/mod.rs",
            before: "    key = key << 1 | u128::from(ready);\n",
            after: "    key = key << 1 | u128::from(ready || BROKEN);\n",
        }],
    },
    Mutant {
        name: "minReadySeconds are not waited for",
        changes: &[Change {
            file: "crates/decide/src/replica_set/availability.rs",
            before: "since.is_some_and(|since| available_at(since, min_ready_seconds) <= now)",
            after: "since.is_some_and(|since| available_at(since, min_ready_seconds) <= now || BROKEN)",
        }],
    },
    Mutant {
        name: "a failed sync is not retried",
        changes: &[Change {
            file: "crates/decide/src/queue/retry.rs",
            before: "if self.cap.is_some_and(|cap| requeues >= cap) {",
            after: "if self.cap.is_some_and(|cap| requeues >= cap) || BROKEN {",
        }],
    },
    Mutant {
        name: "the collector deletes objects with an existing owner",
        changes: &[Change {
            file: "crates/decide/src/gc/attempt/decision.rs",
            before: "    if !owners.solid.is_empty() {\n",
            after: "    if !owners.solid.is_empty() && !BROKEN {\n",
        }],
    },
    Mutant {
        name: "the collector keeps the dependents of a deleted owner",
        changes: &[Change {
            file: "crates/decide/src/gc/graph/absence.rs",
            before: "effects.extend(node.dependents.iter().map(Effect::attempt_on));",
            after: "effects.extend(node.dependents.iter().filter(|_| !BROKEN).map(Effect::attempt_on));",
        }],
    },
    Mutant {
        name: "the resource version of an update is not checked",
        changes: &[Change {
            file: "crates/apiserver/src/handlers/update.rs",
            before: "if !matches!(version, \"\" | \"0\") && version != Metadata::of(stored).resource_version() {",
            after: "if !matches!(version, \"\" | \"0\") && version != Metadata::of(stored).resource_version() && !BROKEN {",
        }],
    },
    Mutant {
        name: "a replica leads although another holds the lease",
        changes: &[Change {
            file: "crates/runtime/src/election/record.rs",
            before: "if !lease.holder.is_empty() && steady.since(since) < lease.duration {",
            after: "if !lease.holder.is_empty() && steady.since(since) < lease.duration && !BROKEN {",
        }],
    },
    Mutant {
        name: "a watch that ended is not resumed at its version",
        changes: &[Change {
            file: "crates/runtime/src/informer/protocol.rs",
            before: "self.next_request = NextRequest::Watch(version);\n                Duration::ZERO",
            after: "self.next_request = NextRequest::Watch(if BROKEN { \"0\".into() } else { version });\n                Duration::ZERO",
        }],
    },
];

/// The maximum number of seeds in which a mutant has to be detected.
const SEEDS: &str = "10000";

/// The variable with the index of the mutant that is played.
const VARIABLE: &str = "GANTRY_BROKEN_RULE";

/// Code that is added to every crate with mutants, in the copy only.
const SWITCH: &str = r#"
/// Whether the rule with this number is broken on purpose.
pub(crate) fn is_broken(number: usize) -> bool {
    static BROKEN: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    let broken = BROKEN.get_or_init(|| std::env::var("GANTRY_BROKEN_RULE").ok()?.parse().ok());
    *broken == Some(number)
}
"#;

/// Builds a simulator with all mutants from a copy of the repository, and plays those whose name contains these words,
/// one after the other.
pub(crate) fn run(root: &Path, words: &str) -> Result<(), Failure> {
    let is_played = |mutant: &Mutant| mutant.name.contains(words);
    if !MUTANTS.iter().any(is_played) {
        return Err(Failure::Failed(format!("no mutant has a name with `{words}`")));
    }
    let copy = root.join("target/mutants");
    copy_sources(root, &copy)?;
    for (number, mutant) in MUTANTS.iter().enumerate() {
        for change in mutant.changes {
            change_source(&copy, number, change)?;
        }
    }
    let changes = MUTANTS.iter().flat_map(|mutant| mutant.changes);
    for library in changes.map(library).collect::<BTreeSet<_>>() {
        let library = copy.join(library);
        write(&library, &(read(&library)? + SWITCH))?;
    }
    // With the dependencies that are built already.
    let target = root.join("target");
    let mut build =
        cargo(&copy, &["build", "--release", "--package", "gantry-sim", "--bin", "sim", "--target-dir"]);
    cargo::run(build.arg(&target))?;
    // Moved away, because the next build of the simulator has the same path.
    let simulator = copy.join("sim");
    fs::rename(target.join("release/sim"), &simulator)
        .map_err(|error| Failure::Failed(format!("cannot move the simulator: {error}")))?;
    let mut undetected = Vec::new();
    for (number, mutant) in MUTANTS.iter().enumerate().filter(|(_, mutant)| is_played(mutant)) {
        console::talk(&format!("== {}", mutant.name));
        let mut played = Command::new(&simulator);
        played.env(VARIABLE, number.to_string()).args(["--seeds", SEEDS, "--broken", "1"]);
        // The simulator fails if a rule is broken, which is expected for a mutant.
        if cargo::run(&mut played).is_ok() {
            undetected.push(mutant.name);
        }
    }
    if undetected.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("not detected within {SEEDS} seeds: {}", undetected.join(", "))))
}

/// The root file of the crate of a change.
fn library(change: &Change) -> String {
    let (krate, _) = change.file.split_once("/src/").unwrap_or((change.file, ""));
    format!("{krate}/src/lib.rs")
}

/// Copies the sources of the simulator, with another version: cargo distinguishes packages by name, version and place
/// in the workspace, and must not confuse build output of the copy with that of the sources.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("cannot copy the sources: {error}"));
    fs::create_dir_all(copy).map_err(failed)?;
    let mut command = Command::new("cp");
    command.current_dir(root).args(["-rp", "Cargo.toml", "Cargo.lock", "crates", "xtask"]);
    cargo::run(command.arg(copy))?;
    let manifest = copy.join("Cargo.toml");
    write(&manifest, &read(&manifest)?.replacen("\nversion = \"", "\nversion = \"9", 1))
}

/// Changes a place of the sources so that it behaves differently if the mutant with this number is played.
fn change_source(copy: &Path, number: usize, change: &Change) -> Result<(), Failure> {
    let Change { file, before, after } = change;
    let path = copy.join(file);
    let text = read(&path)?;
    if text.matches(before).count() != 1 {
        let message = format!("{file} has not exactly one `{}`; update the mutant", before.trim());
        return Err(Failure::Failed(message));
    }
    let after = after.replace("BROKEN", &format!("crate::is_broken({number})"));
    write(&path, &text.replace(before, &after))
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
    fn every_change_of_a_mutant_has_one_place_in_the_sources() {
        let root = cargo::repository_root().unwrap();
        for mutant in MUTANTS {
            for change in mutant.changes {
                let text = fs::read_to_string(root.join(change.file)).unwrap();
                assert_eq!(text.matches(change.before).count(), 1, "{}", mutant.name);
                assert!(change.after.contains("BROKEN"), "{}", mutant.name);
            }
        }
    }
}
