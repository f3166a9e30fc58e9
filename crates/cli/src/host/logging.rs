//! The log: to standard error, for people or for programs, as much as `GANTRY_LOG` asks for.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use super::flags::LogFormat;

/// The time of day in UTC: who watches a log knows what day it is.
struct TimeOfDay;

/// Starts logging; what is not asked for costs nothing.
pub(crate) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("GANTRY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Fails only if somebody was quicker, which then logs.
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
