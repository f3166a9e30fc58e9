//! `cargo xtask test`: all steps of CI, in order, as on any other machine.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::home::Home;
use crate::{bench, console, install, lint, tidy, tools};
use std::path::Path;
use std::time::{Duration, Instant};

/// The usage of `test`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask test

Run all steps of CI: install missing Debian packages, formatting, clippy, tidy, documentation, every benchmark
once, and the tests, with a separate home directory. Stops at the first failure and prints how to run that step alone.
";

/// One step of CI.
struct Step {
    name: &'static str,
    /// The command that runs this step alone.
    again: &'static str,
    run: fn(&Path) -> Result<(), Failure>,
}

const STEPS: &[Step] = &[
    Step { name: "install", again: "cargo xtask test", run: install },
    Step { name: "format", again: "cargo fmt --all --check", run: lint::format },
    Step {
        name: "clippy",
        again: "cargo clippy --workspace --all-targets -- -D warnings",
        run: lint::clippy,
    },
    Step { name: "tidy", again: "cargo xtask tidy", run: tidy::check },
    Step {
        name: "documentation",
        again: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps",
        run: documentation,
    },
    Step { name: "benchmarks run", again: "cargo xtask bench --smoke", run: |root| bench::smoke(root, None) },
    Step { name: "tests", again: "cargo test --workspace", run: tests },
];

/// Runs every step until one fails.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::unknown_argument(argument));
    }
    let root = cargo::repository_root()?;
    let started = Instant::now();
    for (index, step) in STEPS.iter().enumerate() {
        take(step, index, &root)?;
    }
    console::talk(&format!("== all {} steps passed in {}", STEPS.len(), shown(started.elapsed())));
    Ok(())
}

fn take(step: &Step, index: usize, root: &Path) -> Result<(), Failure> {
    let heading = format!("== {}/{} {}", index + 1, STEPS.len(), step.name);
    console::talk(&heading);
    let started = Instant::now();
    let outcome = (step.run)(root);
    let took = shown(started.elapsed());
    outcome.map_err(|failure| failed(step, &failure, &took))?;
    console::talk(&format!("{heading}: ok in {took}"));
    Ok(())
}

fn failed(step: &Step, failure: &Failure, took: &str) -> Failure {
    let Step { name, again, .. } = step;
    Failure::Failed(format!("{failure}\nstep `{name}` failed after {took}; to run it alone: {again}"))
}

fn install(root: &Path) -> Result<(), Failure> {
    install::ensure(install::FOR_TESTS)?;
    install::ensure_for_real_pods()?;
    tools::ensure(root)
}

fn tests(root: &Path) -> Result<(), Failure> {
    let home = Home::new(root.join("target/tests-home"))?;
    cargo::run(home.lend(&mut cargo(root, &["test", "--workspace"])))?;
    home.check()
}

fn documentation(root: &Path) -> Result<(), Failure> {
    cargo::run(cargo(root, &["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn shown(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_has_the_reason_and_the_command_to_run_it() {
        let sums = Step { name: "sums", again: "cargo sums", run: |_| Ok(()) };
        let Failure::Failed(text) = failed(&sums, &Failure::Failed("2 and 2 make 5".to_owned()), "0.1 s")
        else {
            panic!("a failed step is no usage error");
        };
        let expected = "error: 2 and 2 make 5\nstep `sums` failed after 0.1 s; to run it alone: cargo sums";
        assert_eq!(text, expected);
    }

    #[test]
    fn ci_has_no_options() {
        assert!(matches!(run(&["--quick".to_owned()]), Err(Failure::Usage(_))));
    }
}
