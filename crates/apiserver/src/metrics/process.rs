//! Metrics of this process from `/proc`; none on systems without it.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::text::Text;

/// The clock ticks per second of Linux.
const TICKS_PER_SECOND: f64 = 100.0;
const PAGE_BYTES: u64 = 4096;

pub(super) fn render(text: &mut Text) {
    let Ok(stat) = fs::read_to_string("/proc/self/stat") else { return };
    // The second word is the program's name in brackets and may contain spaces.
    let words: Vec<&str> =
        stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    if let (Some(user), Some(system)) = (number(11), number(12)) {
        let seconds = seconds(user + system);
        one(text, "process_cpu_seconds_total", "counter", "Processor time used, in seconds.", seconds);
    }
    if let Some(ticks) = number(19).and_then(started) {
        one(
            text,
            "process_start_time_seconds",
            "gauge",
            "Start time of the process, in seconds since 1970.",
            ticks,
        );
    }
    if let (Some(size), Some(pages)) = (number(20), number(21)) {
        one(text, "process_virtual_memory_bytes", "gauge", "Address space in use, in bytes.", size);
        one(text, "process_resident_memory_bytes", "gauge", "Memory in use, in bytes.", pages * PAGE_BYTES);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        one(text, "process_open_fds", "gauge", "Open file descriptors.", open.count());
    }
}

fn one(text: &mut Text, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
    text.family(name, kind, help);
    text.sample(name, &[], value);
}

/// The start time of the process, from the ticks between the start of the system and its own.
fn started(ticks: u64) -> Option<f64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
    Some((now - uptime + seconds(ticks)).max(0.0))
}

#[expect(clippy::cast_precision_loss, reason = "hundredths of seconds, for display")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_SECOND
}
