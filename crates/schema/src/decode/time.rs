//! Times in objects: UTC, in seconds or in microseconds.

use gantry_formats::rfc3339::{self, TimeLayout};

/// Year 1, the zero time of Go.
const ZERO: i64 = -62_135_596_800;
/// The years 0 to 9999.
const PRINTABLE: std::ops::Range<i64> = -62_167_219_200..253_402_300_800;

/// Converts a time with any offset to UTC. `None` is the zero time, which is written as `null`.
pub(super) fn normal(text: &str, layout: TimeLayout) -> Result<Option<String>, String> {
    let time = rfc3339::parse(text, layout).map_err(|error| error.to_string())?;
    Ok(write(time.seconds, time.nanos / 1000, layout))
}

/// Formats a time in seconds and microseconds since 1970; `None` for the zero time or beyond four-digit years.
pub(super) fn write(seconds: i64, micros: u32, layout: TimeLayout) -> Option<String> {
    if !PRINTABLE.contains(&seconds) || (seconds, micros) == (ZERO, 0) {
        return None;
    }
    let text = rfc3339::print(seconds);
    Some(match layout {
        TimeLayout::Seconds => text + "Z",
        TimeLayout::Micros => format!("{text}.{micros:06}Z"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<String> {
        normal(text, TimeLayout::Seconds).unwrap()
    }

    /// A2.2: times are converted to UTC and whole seconds.
    #[test]
    fn times_are_written_in_utc_and_whole_seconds() {
        assert_eq!(seconds("2026-11-15T17:54:17Z").unwrap(), "2026-11-15T17:54:17Z");
        assert_eq!(seconds("2026-01-01T00:30:00.999+02:00").unwrap(), "2025-12-31T22:30:00Z");
        assert_eq!(seconds("2024-02-28T23:00:00-01:30").unwrap(), "2024-02-29T00:30:00Z");
        assert_eq!(seconds("1969-12-31T23:59:59Z").unwrap(), "1969-12-31T23:59:59Z");
        assert_eq!(seconds("9999-12-31T23:59:59Z").unwrap(), "9999-12-31T23:59:59Z");
        assert_eq!(seconds("0001-01-01T00:00:00Z"), None);
    }

    /// A2.2: micro times have six digits, and are not accepted with fewer.
    #[test]
    fn micro_times_have_six_digits() {
        let micros = |text: &str| normal(text, TimeLayout::Micros);
        let written = micros("2026-01-02T05:04:05.123456+02:00").unwrap().unwrap();
        assert_eq!(written, "2026-01-02T03:04:05.123456Z");
        assert_eq!(
            micros("2026-01-02T03:04:05Z").unwrap_err(),
            "parsing time \"2026-01-02T03:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": \
             cannot parse \"Z\" as \".000000\""
        );
    }

    /// A2.12: an invalid time is refused with its text.
    #[test]
    fn an_invalid_time_is_refused() {
        assert_eq!(
            normal("yesterday", TimeLayout::Seconds).unwrap_err(),
            "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\""
        );
        for text in [
            "",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01",
            "2026-01-01T00:00:00Zx",
        ] {
            assert!(normal(text, TimeLayout::Seconds).is_err(), "{text}");
        }
    }

    #[test]
    fn years_have_four_digits() {
        assert_eq!(write(PRINTABLE.start, 0, TimeLayout::Seconds).unwrap(), "0000-01-01T00:00:00Z");
        assert_eq!(write(PRINTABLE.end - 1, 0, TimeLayout::Seconds).unwrap(), "9999-12-31T23:59:59Z");
        for beyond in [i64::MIN, PRINTABLE.start - 1, PRINTABLE.end, i64::MAX] {
            assert_eq!(write(beyond, 0, TimeLayout::Seconds), None);
        }
    }
}
