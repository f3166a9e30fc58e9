//! Times in objects: UTC, in seconds or in microseconds.

use gantry_primitives::{Timestamp, timestamp};

/// The precision of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// `2026-11-15T17:54:17Z`.
    Seconds,
    /// `2026-11-15T17:54:17.123456Z`.
    Micros,
}

impl Precision {
    fn layout(self) -> &'static str {
        match self {
            Self::Seconds => "2006-01-02T15:04:05Z07:00",
            Self::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Converts a time with any offset to UTC. `None` is the zero time, which is written as `null`.
pub(super) fn normal(text: &str, precision: Precision) -> Result<Option<String>, String> {
    let (seconds, micros) = parse(text, precision).map_err(|(rest, wanted)| {
        let layout = precision.layout();
        format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {wanted:?}")
    })?;
    Ok(write(seconds, micros, precision))
}

/// Parses a time with any offset, ignoring fractions of a second; `None` if it is invalid.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    parse(text, Precision::Seconds).ok().map(|(seconds, _)| Timestamp::from_secs(seconds))
}

/// Formats a time in seconds and microseconds since 1970; `None` for the zero time or beyond four-digit years.
pub(super) fn write(seconds: i64, micros: u32, precision: Precision) -> Option<String> {
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days)?;
    if (year, month, day, second_of_day, micros) == (1, 1, 1, 0, 0) {
        return None;
    }
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let fraction = match precision {
        Precision::Seconds => String::new(),
        Precision::Micros => format!(".{micros:06}"),
    };
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

type Problem<'a> = (&'a str, &'static str);

fn parse(text: &str, precision: Precision) -> Result<(i64, u32), Problem<'_>> {
    let mut rest = text;
    let year = number(&mut rest, 4, "2006")?;
    literal(&mut rest, "-")?;
    let month = number(&mut rest, 2, "01")?;
    literal(&mut rest, "-")?;
    let day = number(&mut rest, 2, "02")?;
    literal(&mut rest, "T")?;
    let hour = number(&mut rest, 2, "15")?;
    literal(&mut rest, ":")?;
    let minute = number(&mut rest, 2, "04")?;
    literal(&mut rest, ":")?;
    let second = number(&mut rest, 2, "05")?;
    let micros = fraction(&mut rest, precision)?;
    let offset = offset(&mut rest)?;
    let in_range = (1..=12).contains(&month)
        && (1..=length(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !rest.is_empty() || !in_range {
        return Err((rest, ""));
    }
    let of_day = hour * 3600 + minute * 60 + second;
    Ok((timestamp::days(year, month, day) * 86_400 + of_day - offset, micros))
}

fn number<'a>(rest: &mut &'a str, digits: usize, wanted: &'static str) -> Result<i64, Problem<'a>> {
    let all = *rest;
    match all.get(..digits) {
        Some(head) if head.bytes().all(|b| b.is_ascii_digit()) => {
            *rest = &all[digits..];
            head.parse().map_err(|_| (all, wanted))
        }
        _ => Err((all, wanted)),
    }
}

fn literal<'a>(rest: &mut &'a str, wanted: &'static str) -> Result<(), Problem<'a>> {
    *rest = rest.strip_prefix(wanted).ok_or((*rest, wanted))?;
    Ok(())
}

/// A fraction of any length is truncated to microseconds; micro times must have six digits.
fn fraction<'a>(rest: &mut &'a str, precision: Precision) -> Result<u32, Problem<'a>> {
    let all = *rest;
    let digits = all.strip_prefix(['.', ',']).unwrap_or("");
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if precision == Precision::Micros && length != 6 {
        return Err((all, ".000000"));
    }
    if length == 0 {
        return Ok(0);
    }
    *rest = &digits[length..];
    let mut micros = 0;
    for place in 0..6 {
        let digit =
            digits.as_bytes().get(place).filter(|_| place < length).map_or(0, |b| u32::from(b - b'0'));
        micros = micros * 10 + digit;
    }
    Ok(micros)
}

/// The offset from UTC in seconds.
fn offset<'a>(rest: &mut &'a str) -> Result<i64, Problem<'a>> {
    let all = *rest;
    if let Some(after) = all.strip_prefix('Z') {
        *rest = after;
        return Ok(0);
    }
    let sign = match all.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err((all, "Z07:00")),
    };
    *rest = &all[1..];
    let hours = number(rest, 2, "Z07:00")?;
    literal(rest, ":")?;
    let minutes = number(rest, 2, "Z07:00")?;
    if hours > 24 || minutes >= 60 {
        return Err((all, "Z07:00"));
    }
    Ok(sign * (hours * 3600 + minutes * 60))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap(year)),
        _ => 31,
    }
}

/// The date so many days after 1970-01-01, if its year has at most four digits.
fn civil(days: i64) -> Option<(i64, i64, i64)> {
    (-719_528..=2_932_896).contains(&days).then(|| timestamp::date(days))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<String> {
        normal(text, Precision::Seconds).unwrap()
    }

    /// A2.2: UTC and whole seconds, whatever was sent.
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
        let micros = |text: &str| normal(text, Precision::Micros);
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
    fn what_is_no_time_is_refused() {
        assert_eq!(
            normal("yesterday", Precision::Seconds).unwrap_err(),
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
            assert!(normal(text, Precision::Seconds).is_err(), "{text}");
        }
    }

    #[test]
    fn every_day_has_one_date() {
        for days in (-719_528..=2_932_896).step_by(97) {
            let (year, month, day) = civil(days).unwrap();
            assert_eq!(timestamp::days(year, month, day), days);
        }
        assert_eq!(write(i64::MAX, 0, Precision::Seconds), None);
        assert_eq!(write(i64::MIN, 0, Precision::Seconds), None);
    }
}
