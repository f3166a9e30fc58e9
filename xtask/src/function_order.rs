//! `cargo xtask function-order`: records which functions a start and rollouts execute, for the linker; see decisions 0061 and 0062.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The usage of `function-order`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask function-order

Run `gantry up --nodes 0` of the profile `dist` under valgrind for 100 seconds, then small rollouts with a hollow kubelet and
with its own nodes, and write the names of the functions that they execute to crates/cli/function-order.txt: first those of the
start. The linker puts them next to each other, so that fewer pages of the binary are in memory. Names that are missing or out of
date only cost memory.
";

const FILE: &str = "crates/cli/function-order.txt";

/// The kubelets of the rollouts whose functions are recorded.
const KUBELETS: [&str; 2] = ["hollow", "nodes"];

/// Builds the binary with its symbols, executes it and writes the file.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(other) = arguments.first() {
        return Err(Failure::unknown_argument(other));
    }
    let root = cargo::repository_root()?;
    // One after the other: built together, dependencies have the union of their features, and functions have other
    // names.
    for package in ["gantry", "gantry-rollout-bench"] {
        let build = ["build", "--profile", "dist", "--package", package];
        cargo::run(cargo(&root, &build).env("GANTRY_KEEP_SYMBOLS", "1"))?;
    }
    let binaries = root.join("target/dist");
    let profile = root.join("target/function-order.callgrind");
    start(&binaries.join("gantry"), &profile)?;
    let mut profiles = read(&profile)?;
    for kubelet in KUBELETS {
        roll_out(&binaries, kubelet, &profile)?;
        profiles.push_str(&read(&profile)?);
    }
    let names = cargo::output(Command::new("nm").arg("--defined-only").arg(binaries.join("gantry")))?;
    let order = defined(&executed(&profiles), &names);
    let text: String = order.iter().flat_map(|name| [name, "\n"]).collect();
    std::fs::write(root.join(FILE), text)
        .map_err(|error| Failure::Failed(format!("cannot write {FILE}: {error}")))?;
    console::talk(&format!("{FILE} has {} functions", order.len()));
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))
}

/// Starts a cluster under callgrind and ends it by `timeout`, whose exit code reports that.
fn start(gantry: &Path, profile: &Path) -> Result<(), Failure> {
    let mut command = Command::new("timeout");
    command.args(["--preserve-status", "100", "valgrind", "--tool=callgrind", "--demangle=no"]);
    command.arg(format!("--callgrind-out-file={}", profile.display())).arg(gantry);
    cargo::run(command.args(["up", "--quiet", "--in-memory", "--listen", "127.0.0.1:0", "--nodes", "0"]))
}

/// Rolls out a few Deployments on a cluster under callgrind, and deletes them.
fn roll_out(binaries: &Path, kubelet: &str, profile: &Path) -> Result<(), Failure> {
    let mut command = Command::new(binaries.join("rollout-bench"));
    command.args(["run", "--pods", "50", "--delete-namespaces", "--kubelet", kubelet, "--gantry"]);
    cargo::run(command.arg(binaries.join("gantry")).arg("--callgrind").arg(profile))
}

/// The functions in a profile of callgrind, in its order. A name is written once, and its number from then on.
fn executed(profile: &str) -> Vec<&str> {
    let (mut names, mut order) = (BTreeSet::new(), Vec::new());
    for line in profile.lines() {
        let function = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="));
        let Some((_, name)) = function.and_then(|function| function.split_once(") ")) else { continue };
        // `name'2` is a recursive call.
        let name = name.split('\'').next().unwrap_or(name);
        if names.insert(name) {
            order.push(name);
        }
    }
    order
}

/// The functions that the binary defines, without those of libraries. Names with a number of thin LTO are kept; they
/// are ignored when the code has changed.
fn defined<'a>(executed: &[&'a str], symbols: &str) -> Vec<&'a str> {
    let defined: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    executed.iter().filter(|name| defined.contains(**name)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_listed_once_and_without_those_of_libraries() {
        let profile = "fn=(1) main\n16 2\ncfn=(2) run\ncalls=1 0\nfn=(2)\n1 1\ncfn=(3) run'2\ncfn=(4) malloc\ncfn=(5) f.llvm.1\n";
        assert_eq!(executed(profile), ["main", "run", "malloc", "f.llvm.1"]);
        let symbols = "0000000000000010 T main\n0000000000000020 t run\n0000000000000030 t f.llvm.1\n";
        assert_eq!(defined(&executed(profile), symbols), ["main", "run", "f.llvm.1"]);
    }
}
