//! `cargo xtask lint`: formatting, clippy, and the licences and advisories of dependencies.

use crate::cargo::{self, cargo};
use crate::dependencies;
use crate::failure::Failure;
use std::path::Path;

/// The usage of `lint`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask lint [--fix]

Check formatting and clippy (warnings are errors), then `cargo deny check` where cargo-deny is installed.

  --fix   Apply what clippy and rustfmt can fix themselves, then check the rest
";

/// Runs the checks, after fixing what can be fixed if `--fix` is given.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = cargo::repository_root()?;
    match arguments {
        [] => {}
        [flag] if flag == "--fix" => fix(&root)?,
        [other, ..] => return Err(Failure::unknown_argument(other)),
    }
    format(&root)?;
    clippy(&root)?;
    dependencies::check_where_installed(&root)
}

/// Fails when a file is not formatted as rustfmt would.
pub(crate) fn format(root: &Path) -> Result<(), Failure> {
    cargo::run(&mut cargo(root, &["fmt", "--all", "--check"]))
}

/// Fails on any warning of clippy or the compiler, in tests and benches too.
pub(crate) fn clippy(root: &Path) -> Result<(), Failure> {
    cargo::run(&mut cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn fix(root: &Path) -> Result<(), Failure> {
    let clippy = [
        "clippy",
        "--fix",
        "--allow-dirty",
        "--allow-staged",
        "--allow-no-vcs",
        "--workspace",
        "--all-targets",
    ];
    cargo::run(&mut cargo(root, &clippy))?;
    cargo::run(&mut cargo(root, &["fmt", "--all"]))
}
