//! `cargo xtask stories`: runs the story tests with rewriting on.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;

/// The usage of `stories`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask stories [FILTER]

Run the story tests with GANTRY_REWRITE_STORIES=1: the expected half of every story becomes the current
behaviour. Review the difference before you commit it.

  FILTER   Only the tests whose name contains this
";

/// Runs the story tests so that they rewrite their expectations.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut words = vec!["test", "--package", "gantry-sim", "--test", "stories"];
    match arguments {
        [] => {}
        [filter] if !filter.starts_with('-') => words.push(filter),
        [other, ..] => return Err(Failure::unknown_argument(other)),
    }
    let root = cargo::repository_root()?;
    cargo::run(cargo(&root, &words).env("GANTRY_REWRITE_STORIES", "1"))?;
    console::talk("stories rewritten; `git diff` shows what changed");
    Ok(())
}
