//! How a command fails: it was typed wrongly, or a check failed.

use std::fmt;
use std::process::ExitCode;

/// Why a command did not succeed, as a message for the terminal.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is invalid; exit code 2.
    Usage(String),
    /// The command failed; exit code 1.
    Failed(String),
}

impl Failure {
    /// Rejects an unknown argument.
    pub(crate) fn unknown_argument(argument: &str) -> Self {
        Self::Usage(format!("`{argument}` is not a known argument"))
    }

    /// Adds the command's usage to a usage failure; other failures are not changed.
    pub(crate) fn with_usage(self, usage: &str) -> Self {
        match self {
            Self::Usage(what) => Self::Usage(format!("{what}\n\n{usage}")),
            failed @ Self::Failed(_) => failed,
        }
    }

    /// The process exit code that distinguishes the two.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => write!(out, "error: {}", what.trim_end()),
            Self::Failed(what) => write!(out, "error: {}", what.trim_start_matches("error: ")),
        }
    }
}
