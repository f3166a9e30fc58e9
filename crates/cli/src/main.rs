//! The `gantry` binary: argv in, exit code out. Everything worth testing lives elsewhere.

mod command;
mod output;
mod simulate;
mod store;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    command::Gantry::parse().run()
}
