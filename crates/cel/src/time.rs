//! Timestamps, parsed and printed, and durations, printed.

use std::fmt::Write;

use gantry_formats::rfc3339::{self, TimeLayout};

pub(super) const SECOND: i64 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND as i128;
/// The years 1 to 9999.
pub(super) const FIRST: i128 = -62_135_596_800 * SECOND as i128;
const LAST: i128 = 253_402_300_800 * SECOND as i128 - 1;

/// The parts of a timestamp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    /// From 1.
    pub(super) day: i64,
    /// From 0.
    pub(super) day_of_year: i64,
    /// From Sunday, 0.
    pub(super) day_of_week: i64,
    /// Since midnight.
    pub(super) nanos: i64,
}

/// The timestamp, if it is in the range that can be printed.
pub(super) fn in_range(nanos: i128) -> Option<i128> {
    (FIRST..=LAST).contains(&nanos).then_some(nanos)
}

/// `2024-02-29`.
pub(super) fn date(text: &str) -> Option<i128> {
    rfc3339::parse_date(text).map(|days| i128::from(days) * DAY)
}

/// `2024-02-29T12:00:00.5Z`, or with an offset.
pub(super) fn timestamp(text: &str) -> Option<i128> {
    let time = rfc3339::parse(text, TimeLayout::Seconds).ok()?;
    in_range(i128::from(time.seconds) * i128::from(SECOND) + i128::from(time.nanos))
}

/// The offset of a time zone in seconds: `UTC`, `+01:00`.
pub(super) fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "UTC" | "Z") {
        return Some(0);
    }
    let (sign, rest) = match zone.as_bytes().first()? {
        b'-' => (-1, &zone[1..]),
        b'+' => (1, &zone[1..]),
        _ => (1, zone),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let fits = hours.len() == 2 && minutes.len() == 2;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (fits && hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Splits a timestamp into its parts.
pub(super) fn parts(nanos: i128) -> Parts {
    let days = i64::try_from(nanos.div_euclid(DAY)).unwrap_or_default();
    let (year, month, day) = rfc3339::date(days);
    Parts {
        year,
        month,
        day,
        day_of_year: days - rfc3339::days(year, 1, 1),
        day_of_week: (days + 4).rem_euclid(7),
        nanos: i64::try_from(nanos.rem_euclid(DAY)).unwrap_or_default(),
    }
}

/// Prints a timestamp.
pub(super) fn timestamp_text(nanos: i128) -> String {
    let seconds = i64::try_from(nanos.div_euclid(i128::from(SECOND))).unwrap_or_default();
    let mut text = rfc3339::print(seconds);
    let fraction = nanos.rem_euclid(i128::from(SECOND));
    if fraction != 0 {
        let _ = write!(text, ".{}", format!("{fraction:09}").trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// Prints a duration in seconds.
pub(super) fn duration_text(nanos: i64) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let (whole, fraction) = (nanos / SECOND.unsigned_abs(), nanos % SECOND.unsigned_abs());
    let fraction = format!("{fraction:09}");
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}s"),
        digits => format!("{sign}{whole}.{digits}s"),
    }
}
