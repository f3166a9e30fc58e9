//! What can be typed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::simulate;
use crate::store::StoreCommand;

/// Kubernetes Deployments in one binary
#[derive(Debug, Parser)]
#[command(name = "gantry", version, arg_required_else_help = true)]
pub(crate) struct Gantry {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a story in virtual time and print what the controllers do
    ///
    /// A story is a text file of commands, one a line: create a Deployment, change its image, make pods ready or not,
    /// let time pass. The same rules that run a cluster decide what happens, and every step and every reason to wait is
    /// printed under the command that led to it. Nothing is contacted and nothing is changed.
    #[command(after_help = SIMULATE_EXAMPLE)]
    Simulate {
        /// The story to play, `-` for standard input
        story: PathBuf,
    },
    /// Check, back up and restore the directory of an embedded store
    #[command(subcommand)]
    Store(StoreCommand),
}

const SIMULATE_EXAMPLE: &str = "\
Example:
  printf 'deployment web replicas=4\\nready all\\n\\nimage nginx:broken\\nwait 601\\n' | gantry simulate -

A line that is no command gets the list of all commands.";

impl Gantry {
    pub(crate) fn run(self) -> ExitCode {
        match self.command {
            Command::Simulate { story } => simulate::run(&story),
            Command::Store(command) => command.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Gantry::command().debug_assert();
    }
}
