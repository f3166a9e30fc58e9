//! Go's durations: `1h30m`, `-1.5s`, `250ms`.
//!
//! A duration is a number of nanoseconds, at most about 292 years in either direction.

use std::fmt::{self, Write as _};

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
/// The largest absolute value: the one of the most negative duration.
const MAX: u64 = 1 << 63;

/// Why a text is not a duration, with Go's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidDuration {
    /// It does not have the form of a duration, or is too large.
    Form(String),
    /// A number has no unit.
    MissingUnit(String),
    /// A unit is unknown.
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Parses a duration, in nanoseconds.
pub fn parse(text: &str) -> Result<i64, InvalidDuration> {
    let invalid = || InvalidDuration::Form(text.to_owned());
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_ends = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_ends);
        let scale = match unit {
            "" => return Err(InvalidDuration::MissingUnit(text.to_owned())),
            _ => nanos_in(unit).ok_or_else(|| InvalidDuration::UnknownUnit {
                unit: unit.to_owned(),
                text: text.to_owned(),
            })?,
        };
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let nanos = whole.checked_mul(scale).and_then(|nanos| nanos.checked_add(part_of(fraction, scale)));
        total = nanos
            .and_then(|nanos| total.checked_add(nanos))
            .filter(|total| *total <= MAX)
            .ok_or_else(invalid)?;
        rest = after;
    }
    let total = if negative { -i128::from(total) } else { i128::from(total) };
    i64::try_from(total).map_err(|_| invalid())
}

/// Parses a duration as go-openapi does: in Go's format or, with words as units, the sum of all numbers with a unit in the
/// text: `2 weeks`, `1 day and 3 hours`. A fraction counts as a number, and a sum that is too large wraps.
pub fn parse_with_words(text: &str) -> Option<i64> {
    if let Ok(nanos) = parse(text) {
        return Some(nanos);
    }
    let (mut rest, mut total) = (text, None);
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (number, after) = split_digits(&rest[start..]);
        let after = after.trim_start_matches([' ', '\t', '\n', '\x0c', '\r']);
        let ends = after.find(|letter: char| !letter.is_ascii_alphabetic() && letter != 'µ');
        let (unit, after) = after.split_at(ends.unwrap_or(after.len()));
        rest = after;
        if !unit.is_empty() {
            let number: i64 = number.parse().ok()?;
            let scale = nanos_in_word(&unit.to_ascii_lowercase());
            total = scale.map(|scale| number.wrapping_mul(scale).wrapping_add(total.unwrap_or(0))).or(total);
        }
    }
    total
}

/// Formats a duration with the largest units that fit: `1h0m0.5s`, `1.25s`, `320ms`, `0s`.
pub fn format(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let mut text = String::from(if nanos < 0 { "-" } else { "" });
    // Writing to a string cannot fail.
    let _ = match size {
        0 => write!(text, "0s"),
        1..MICROSECOND => write!(text, "{size}ns"),
        MICROSECOND..MILLISECOND => write!(text, "{}µs", decimal(size, MICROSECOND)),
        MILLISECOND..SECOND => write!(text, "{}ms", decimal(size, MILLISECOND)),
        SECOND..MINUTE => write!(text, "{}s", decimal(size, SECOND)),
        MINUTE..HOUR => write!(text, "{}m{}s", size / MINUTE, decimal(size % MINUTE, SECOND)),
        _ => write!(text, "{}h{}m{}s", size / HOUR, size % HOUR / MINUTE, decimal(size % MINUTE, SECOND)),
    };
    text
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn nanos_in(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    })
}

/// Returns the nanoseconds in a unit: an abbreviation, or a word that begins with the last one listed.
fn nanos_in_word(unit: &str) -> Option<i64> {
    const S: i64 = 1_000_000_000;
    const UNITS: [(&[&str], &str, i64); 8] = [
        (&["ns"], "nano", 1),
        (&["us", "µs"], "micro", 1_000),
        (&["ms"], "milli", 1_000_000),
        (&["s"], "sec", S),
        (&["m"], "min", 60 * S),
        (&["h", "hr"], "hour", 3_600 * S),
        (&["d"], "day", 86_400 * S),
        (&["w", "wk"], "week", 604_800 * S),
    ];
    let is_unit = |(short, word, _): &&(&[&str], &str, i64)| short.contains(&unit) || unit.starts_with(word);
    UNITS.iter().find(is_unit).map(|(_, _, nanos)| *nanos)
}

/// Returns a decimal fraction of a unit, without digits below a nanosecond.
fn part_of(fraction: &str, unit: u64) -> u64 {
    // An hour has less than 10^13 nanoseconds, so further digits change nothing.
    let digits = &fraction[..fraction.len().min(15)];
    let (value, scale) = digits
        .bytes()
        .fold((0_u128, 1_u128), |(value, scale), digit| (value * 10 + u128::from(digit - b'0'), scale * 10));
    u64::try_from(value * u128::from(unit) / scale).unwrap_or(0)
}

/// Formats an amount in a unit, with as many decimals as needed.
fn decimal(nanos: u64, unit: u64) -> String {
    let width = unit.ilog10() as usize;
    let text = format!("{}.{:0width$}", nanos / unit, nanos % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(text) => write!(f, "time: invalid duration {}", quoted(text)),
            Self::MissingUnit(text) => write!(f, "time: missing unit in duration {}", quoted(text)),
            Self::UnknownUnit { unit, text } => {
                write!(f, "time: unknown unit {} in duration {}", quoted(unit), quoted(text))
            }
        }
    }
}

impl std::error::Error for InvalidDuration {}

/// Quotes a text as Go's package `time` does: everything but printable ASCII is written as bytes.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..0x80 => out.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn durations_are_parsed_as_go_does() {
        for (text, nanos) in [
            ("0", 0),
            ("-0", 0),
            ("5s", 5 * S),
            ("1m30s", 90 * S),
            ("+1.5h", 5400 * S),
            ("-1.5s", -1_500_000_000),
            ("500ms", S / 2),
            ("1.s", S),
            (".5s", S / 2),
            ("1us2µs3μs", 6_000),
            ("7ns", 7),
            ("0.3333333333333333333h", 1200 * S - 1),
            ("-9223372036854775808ns", i64::MIN),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(parse(text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn words_are_units_for_go_openapi() {
        for (text, nanos) in [
            ("1h30m", Some(5400 * S)),
            ("2 weeks", Some(14 * 86_400 * S)),
            ("1 Day, 3 hours", Some(27 * 3600 * S)),
            ("in 5 minutes or 3 y", Some(300 * S)),
            ("1.5 weeks", Some(35 * 86_400 * S)),
            ("5 µs", Some(5_000)),
            ("0", Some(0)),
            ("2 wks", None),
            ("5. weeks", None),
            ("99999999999999999999 days", None),
            ("forever", None),
            ("", None),
        ] {
            assert_eq!(parse_with_words(text), nanos, "{text}");
        }
    }

    /// A0.10: Go's messages.
    #[test]
    fn invalid_durations_have_gos_messages() {
        for (text, message) in [
            ("", r#"time: invalid duration """#),
            ("-", r#"time: invalid duration "-""#),
            ("abc", r#"time: invalid duration "abc""#),
            (".s", r#"time: invalid duration ".s""#),
            ("1s ", r#"time: unknown unit "s " in duration "1s ""#),
            ("5", r#"time: missing unit in duration "5""#),
            ("1s5", r#"time: missing unit in duration "1s5""#),
            ("5x", r#"time: unknown unit "x" in duration "5x""#),
            ("5é\"", r#"time: unknown unit "\xc3\xa9\"" in duration "5\xc3\xa9\"""#),
            ("9223372036854775808ns", r#"time: invalid duration "9223372036854775808ns""#),
            ("99999999999999999999h", r#"time: invalid duration "99999999999999999999h""#),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn durations_are_printed_as_go_does() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (320_000_000, "320ms"),
            (2_200_000, "2.2ms"),
            (1_250_000_000, "1.25s"),
            (10 * S, "10s"),
            (160 * S, "2m40s"),
            (300 * S, "5m0s"),
            (3600 * S, "1h0m0s"),
            (-(3600 * S + 1_500_000_000), "-1h0m1.5s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(format(nanos), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_printed_duration_is_parsed_to_itself(nanos: i64) {
            proptest::prop_assert_eq!(parse(&format(nanos)), Ok(nanos));
        }

        #[test]
        fn no_text_panics(text in "[-+]?([0-9]{0,25}\\.?[0-9]{0,25}(ns|us|ms|s|m|h|x|é)?){0,4}") {
            let _ = parse(&text).map_err(|error| error.to_string());
            let _ = parse_with_words(&text);
        }
    }
}
