//! The `gantry` binary: argv in, exit code out. Everything worth testing lives elsewhere.

mod apiserver;
mod cluster;
mod command;
mod controllers;
mod gather;
mod host;
mod kubectl;
mod output;
mod paths;
mod rollout;
mod rollout_watch;
mod simulate;
mod store;
mod up;
mod why;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    command::Gantry::parse().run()
}
