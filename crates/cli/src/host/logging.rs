//! The log: to standard error, for people or for programs, as much as `GANTRY_LOG` asks for.

use std::io;

use tracing_subscriber::EnvFilter;

use super::flags::LogFormat;

/// Starts logging; what is not asked for costs nothing.
pub(crate) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("GANTRY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Fails only if somebody was quicker, which then logs.
    let _ = match format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
}
