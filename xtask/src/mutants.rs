//! `cargo xtask mutants`: checks that tests fail when a decision is changed. Long, so not part of CI.

use crate::cargo::{self, cargo};
use crate::failure::Failure;

/// The usage of `mutants`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask mutants [ARGUMENTS OF CARGO-MUTANTS…]

Run `cargo mutants --package gantry-decide`: every small change to the decisions should fail a test. Takes long;
narrow it with e.g. `--file '**/deployment/*.rs'`.
";

/// Runs cargo-mutants over the decisions, or prints how to install it.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = cargo::repository_root()?;
    if !cargo::has_subcommand(&root, "mutants") {
        let hint = "cargo-mutants is not installed\nhint: cargo install cargo-mutants";
        return Err(Failure::Failed(hint.to_owned()));
    }
    cargo::run(cargo(&root, &["mutants", "--package", "gantry-decide"]).args(arguments))
}
