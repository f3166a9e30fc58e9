//! The log: to standard error, for people or for programs, as much as the command or `GANTRY_LOG` asks for.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use super::flags::LogFormat;

/// How much is logged unless `GANTRY_LOG` says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// How rollouts end, and what is worth knowing.
    Info,
    /// Warnings and errors.
    Warnings,
    /// Errors.
    Errors,
}

/// The time of day in UTC: the reader of a log knows what day it is.
struct TimeOfDay;

/// Starts logging; what is not asked for costs nothing.
pub(crate) fn start(format: LogFormat, verbosity: Verbosity) {
    let usual = match verbosity {
        Verbosity::Info => "info",
        Verbosity::Warnings => "warn",
        Verbosity::Errors => "error",
    };
    let filter = EnvFilter::try_from_env("GANTRY_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Fails only if logging was started before, and then there is a log.
    let _ = match format {
        LogFormat::Text => log.with_ansi(false).with_target(false).with_timer(TimeOfDay).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
}

impl FormatTime for TimeOfDay {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = since.as_secs() % 86_400;
        write!(writer, "{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}
