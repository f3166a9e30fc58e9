//! `cargo xtask bench rollout` and `start`: builds the server and the crate `rollout-bench`, which reads the options itself.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use std::path::Path;
use std::process::Command;

/// The option that is about the build: a server that counts its allocations.
const ALLOCATIONS: &str = "--allocations";

/// Measures rollouts or starts on the binary that is distributed; `release` takes less time to build and is slower.
pub(super) fn run(root: &Path, name: &str, options: &[String]) -> Result<(), Failure> {
    let counts_allocations = options.iter().any(|option| option == ALLOCATIONS);
    // Counting takes time, so such a run is not for measuring times.
    let profile = if counts_allocations { "release" } else { "dist" };
    let mut server = cargo(root, &["build", "--profile", profile, "--package", "gantry"]);
    if counts_allocations {
        server.args(["--features", "gantry/count-allocations"]);
    }
    // One after the other: built together, they share the features of their dependencies, and the server is not the one
    // that is distributed.
    cargo::run(&mut server)?;
    cargo::run(&mut cargo(root, &["build", "--profile", profile, "--package", "gantry-rollout-bench"]))?;
    let binaries = root.join("target").join(profile);
    // In the current directory of the user, so that file names are relative to it.
    let mut command = Command::new(binaries.join("rollout-bench"));
    let options = options.iter().filter(|option| *option != ALLOCATIONS);
    let subcommand = if name == "rollout" { "run" } else { name };
    cargo::run(command.args([subcommand, "--gantry"]).arg(binaries.join("gantry")).args(options))
}
