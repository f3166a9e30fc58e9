//! The `gantry` binary: argv in, exit code out. Everything worth testing lives elsewhere.

mod apiserver;
mod asked;
mod cluster;
mod clusters;
mod command;
mod completion;
mod controllers;
mod gather;
#[cfg(test)]
mod help;
mod host;
mod kubectl;
mod mistake;
mod output;
mod paint;
mod rollout;
mod rollout_watch;
mod simulate;
mod store;
mod up;
mod why;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::run(std::env::args_os().collect())
}
