//! `cargo xtask bench rollout`: builds the server and the crate `rollout-bench`, which reads the options itself.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use std::path::Path;
use std::process::Command;

/// Measures rollouts on the binary that is distributed; `release` is quicker to build and slower.
pub(super) fn run(root: &Path, options: &[String]) -> Result<(), Failure> {
    let packages = ["--package", "gantry", "--package", "gantry-rollout-bench"];
    cargo::run(cargo(root, &["build", "--profile", "dist"]).args(packages))?;
    let binaries = root.join("target/dist");
    // From where the command was typed, so that files are named as from there.
    let mut command = Command::new(binaries.join("rollout-bench"));
    cargo::run(command.args(["run", "--gantry"]).arg(binaries.join("gantry")).args(options))
}
