//! `cargo xtask function-order`: records which functions a start executes, for the linker; see decision 0061.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// How `function-order` is typed.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask function-order

Run `gantry up --nodes 0` of the profile `dist` under valgrind for 100 seconds, and write the names of the functions that it
executes to crates/cli/function-order.txt. The linker puts them next to each other, so that fewer pages of the binary
are in memory. Names that are missing or out of date cost memory and nothing else.
";

const FILE: &str = "crates/cli/function-order.txt";

/// Builds the binary with its symbols, starts it and writes the file.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(other) = arguments.first() {
        return Err(Failure::unknown_argument(other));
    }
    let root = cargo::repository_root()?;
    let symbols =
        ["--config", "profile.dist.strip=false", "--config", "profile.dist.package.gantry.strip=false"];
    cargo::run(cargo(&root, &["build", "--profile", "dist", "--package", "gantry"]).args(symbols))?;
    let profile = root.join("target/function-order.callgrind");
    execute(&root.join("target/dist/gantry"), &profile)?;
    let read = |path: &Path| {
        std::fs::read_to_string(path)
            .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))
    };
    let names = cargo::output(Command::new("nm").arg("--defined-only").arg(root.join("target/dist/gantry")))?;
    let profile = read(&profile)?;
    let order = stable(&executed(&profile), &names);
    let text: String = order.iter().flat_map(|name| [name, "\n"]).collect();
    std::fs::write(root.join(FILE), text)
        .map_err(|error| Failure::Failed(format!("cannot write {FILE}: {error}")))?;
    console::talk(&format!("{FILE} has {} functions", order.len()));
    Ok(())
}

/// Starts a cluster under callgrind and ends it: by `timeout`, whose exit code says so.
fn execute(gantry: &Path, profile: &Path) -> Result<(), Failure> {
    let mut command = Command::new("timeout");
    command.args(["--preserve-status", "100", "valgrind", "--tool=callgrind", "--demangle=no"]);
    command.arg(format!("--callgrind-out-file={}", profile.display())).arg(gantry);
    cargo::run(command.args(["up", "--quiet", "--in-memory", "--listen", "127.0.0.1:0", "--nodes", "0"]))
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

/// Those that the binary defines and that are called the same when other code has changed: not copies of a function of another crate.
fn stable<'a>(executed: &[&'a str], symbols: &str) -> Vec<&'a str> {
    let defined: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let is_stable = |name: &&&str| defined.contains(**name) && !name.contains(".llvm.");
    executed.iter().filter(is_stable).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_listed_once_and_without_those_of_libraries() {
        let profile = "fn=(1) main\n16 2\ncfn=(2) run\ncalls=1 0\nfn=(2)\n1 1\ncfn=(3) run'2\ncfn=(4) malloc\ncfn=(5) f.llvm.1\n";
        assert_eq!(executed(profile), ["main", "run", "malloc", "f.llvm.1"]);
        let symbols = "0000000000000010 T main\n0000000000000020 t run\n0000000000000030 t f.llvm.1\n";
        assert_eq!(stable(&executed(profile), symbols), ["main", "run"]);
    }
}
