//! Sets up logging to standard error.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use super::flags::LogFormat;

/// The default log level; `GANTRY_LOG` overrides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Informational messages.
    Info,
    /// Warnings and errors.
    Warnings,
    /// Errors.
    Errors,
}

/// Log timestamps: the time of day in UTC.
struct TimeOfDay;

/// Starts logging.
pub(crate) fn start(format: LogFormat, verbosity: Verbosity) {
    let usual = match verbosity {
        Verbosity::Info => "info",
        Verbosity::Warnings => "warn",
        Verbosity::Errors => "error",
    };
    let filter = EnvFilter::try_from_env("GANTRY_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Fails only if logging was started already.
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
