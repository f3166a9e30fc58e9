//! `cargo xtask sim`: plays scenarios of many seeds on a simulated cluster.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::sim_mutants;
use std::path::Path;

/// The usage of `sim`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask sim [--seeds N] [--from S] [--minutes M] [--jobs N] [--broken N]
       cargo xtask sim --seed S
       cargo xtask sim --mutants [WORDS]

Play scenarios on the shipped cluster in virtual time, optimised: a seed decides what users do, which requests fail and how, when
controllers crash and nodes fail, and how pods behave. Every write is checked; exit status 1 if a rule is broken.

  --seeds N     How many seeds to play (default: 1000)
  --from S      The first seed (default: 0)
  --minutes M   How long to play, instead of a number of seeds
  --jobs N      How many scenarios to play at a time (default: the number of cores)
  --broken N    Stop after this many broken scenarios (default: 10)
  --mutants     Break one rule after the other on purpose, or those whose name contains the words; exit status 1 if the simulator
                does not detect one within 10,000 seeds
  --seed S      Play one seed; print its writes, and the smallest scenario found in which the same rule is broken
";

/// Builds and starts the simulator, which reads its options itself.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = cargo::repository_root()?;
    if let Some(("--mutants", words)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return sim_mutants::run(&root, &words.join(" "));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    play(&root, &arguments)
}

/// Plays scenarios with these options.
pub(crate) fn play(root: &Path, options: &[&str]) -> Result<(), Failure> {
    let words = ["run", "--quiet", "--release", "--package", "gantry-sim", "--bin", "sim", "--"];
    cargo::run(cargo(root, &words).args(options))
}
