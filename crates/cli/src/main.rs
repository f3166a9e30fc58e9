//! The `gantry` binary: argv in, exit code out. Everything worth testing lives elsewhere.

mod apiserver;
mod command;
mod controllers;
mod host;
mod output;
mod paths;
mod simulate;
mod store;
mod up;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    command::Gantry::parse().run()
}
