//! Sets up logging to standard error.

use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, io};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

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
        Verbosity::Info => LevelFilter::INFO,
        Verbosity::Warnings => LevelFilter::WARN,
        Verbosity::Errors => LevelFilter::ERROR,
    };
    let wanted = env::var("GANTRY_LOG").ok().and_then(|text| targets(&text));
    let registry =
        tracing_subscriber::registry().with(wanted.unwrap_or_else(|| Targets::new().with_default(usual)));
    let log = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(io::stderr);
    // Fails only if logging was started already.
    let _ = match format {
        LogFormat::Text => registry.with(log.with_target(false).with_timer(TimeOfDay)).try_init(),
        LogFormat::Json => registry.with(log.json()).try_init(),
    };
}

/// Parses a level for everything, or levels for modules: `info,gantry_runtime=debug`. Errors only if it is empty; `None`
/// if it is malformed.
fn targets(text: &str) -> Option<Targets> {
    if text.is_empty() {
        return Some(Targets::new().with_default(LevelFilter::ERROR));
    }
    let directives: Vec<&str> = text.split(',').filter(|directive| !directive.is_empty()).collect();
    directives.join(",").parse().ok()
}

impl FormatTime for TimeOfDay {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = since.as_secs() % 86_400;
        write!(writer, "{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}
