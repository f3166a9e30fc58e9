//! Timestamps of RFC 3339 as Go parses and prints them: `2026-11-15T17:54:17Z`. There is no clock here.

use std::fmt;

const SECONDS_PER_DAY: i64 = 86_400;

/// A layout of Go's `time.Parse`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLayout {
    /// `2026-11-15T17:54:17Z`; a fraction of any length is accepted.
    Seconds,
    /// `2026-11-15T17:54:17.123456Z`, with exactly six digits.
    Micros,
}

impl TimeLayout {
    fn text(self) -> &'static str {
        match self {
            Self::Seconds => "2006-01-02T15:04:05Z07:00",
            Self::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixTime {
    /// Seconds since the Unix epoch, rounded down.
    pub seconds: i64,
    /// The rest, less than a second.
    pub nanos: u32,
}

/// Why a text is not a timestamp; its `Display` is Go's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTimestamp {
    text: String,
    layout: TimeLayout,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// The rest of the text does not start with this element of the layout.
    Unexpected {
        rest: String,
        element: &'static str,
    },
    OutOfRange(&'static str),
    ExtraText(String),
}

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = quoted(&self.text);
        match &self.problem {
            Problem::Unexpected { rest, element } => {
                let (layout, rest) = (self.layout.text(), quoted(rest));
                write!(f, "parsing time {text} as \"{layout}\": cannot parse {rest} as \"{element}\"")
            }
            Problem::OutOfRange(element) => write!(f, "parsing time {text}: {element} out of range"),
            Problem::ExtraText(rest) => write!(f, "parsing time {text}: extra text: {}", quoted(rest)),
        }
    }
}

impl std::error::Error for InvalidTimestamp {}

/// Quotes a text as Go's package `time` does.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            ' '..='\u{7f}' => out.push(letter),
            _ => out.extend(letter.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}"))),
        }
    }
    out.push('"');
    out
}

/// Parses a timestamp with any offset from UTC.
pub fn parse(text: &str, layout: TimeLayout) -> Result<UnixTime, InvalidTimestamp> {
    let mut parser = Parser { rest: text };
    parser.timestamp(layout).map_err(|problem| InvalidTimestamp { text: text.to_owned(), layout, problem })
}

/// Parses a date such as `2024-02-29`: the days since the Unix epoch, or `None` if there is no such date.
pub fn parse_date(text: &str) -> Option<i64> {
    let mut parser = Parser { rest: text };
    let (year, month, day) = parser.date().ok()?;
    (parser.rest.is_empty() && (1..=days_in(year, month)).contains(&day)).then(|| days(year, month, day))
}

/// Prints a time in seconds since the Unix epoch, without fraction and zone: `2026-11-15T17:54:17`.
pub fn print(seconds: i64) -> String {
    let (year, month, day) = date(seconds.div_euclid(SECONDS_PER_DAY));
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    if !(0..=9999).contains(&year) {
        return format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    }
    // Every object has several times, and the formatter is slow.
    let mut text = String::with_capacity("2026-11-15T17:54:17.000000Z".len());
    push_two_digits(&mut text, year / 100);
    for (number, after) in
        [(year % 100, "-"), (month, "-"), (day, "T"), (hour, ":"), (minute, ":"), (second, "")]
    {
        push_two_digits(&mut text, number);
        text.push_str(after);
    }
    text
}

/// Prints a number below 100.
fn push_two_digits(text: &mut String, number: i64) {
    let digit = |digit: i64| char::from(b'0' + u8::try_from(digit).unwrap_or_default());
    text.push(digit(number / 10));
    text.push(digit(number % 10));
}

/// Days from the epoch to a date. Years are counted from March, so that the leap day is the last of its year.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date this number of days after the epoch: the inverse of [`days`].
pub fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

fn days_in(year: i64, month: i64) -> i64 {
    let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    next - days(year, month, 1)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn timestamp(&mut self, layout: TimeLayout) -> Result<UnixTime, Problem> {
        let (year, month, day) = self.date()?;
        self.literal("T")?;
        // Go accepts a single digit for the hour only.
        let digits = if self.rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) { 2 } else { 1 };
        let hour = self.number(digits, "15", 0..=23, "hour")?;
        self.literal(":")?;
        let minute = self.number(2, "04", 0..=59, "minute")?;
        self.literal(":")?;
        let second = self.number(2, "05", 0..=59, "second")?;
        let nanos = self.fraction(layout)?;
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(Problem::ExtraText(self.rest.to_owned()));
        }
        if !(1..=days_in(year, month)).contains(&day) {
            return Err(Problem::OutOfRange("day"));
        }
        let of_day = hour * 3600 + minute * 60 + second;
        Ok(UnixTime { seconds: days(year, month, day) * SECONDS_PER_DAY + of_day - offset, nanos })
    }

    /// Year, month and day; whether the month has such a day is not checked.
    fn date(&mut self) -> Result<(i64, i64, i64), Problem> {
        let year = self.number(4, "2006", 0..=9999, "year")?;
        self.literal("-")?;
        let month = self.number(2, "01", 1..=12, "month")?;
        self.literal("-")?;
        Ok((year, month, self.number(2, "02", 0..=99, "day")?))
    }

    fn number(
        &mut self,
        digits: usize,
        element: &'static str,
        range: std::ops::RangeInclusive<i64>,
        name: &'static str,
    ) -> Result<i64, Problem> {
        let head = self.rest.get(..digits).filter(|head| head.bytes().all(|byte| byte.is_ascii_digit()));
        let number = head.and_then(|head| head.parse().ok()).ok_or_else(|| self.unexpected(element))?;
        if !range.contains(&number) {
            return Err(Problem::OutOfRange(name));
        }
        self.rest = &self.rest[digits..];
        Ok(number)
    }

    fn literal(&mut self, element: &'static str) -> Result<(), Problem> {
        self.rest = self.rest.strip_prefix(element).ok_or_else(|| self.unexpected(element))?;
        Ok(())
    }

    fn unexpected(&self, element: &'static str) -> Problem {
        Problem::Unexpected { rest: self.rest.to_owned(), element }
    }

    /// Nanoseconds; digits beyond them are dropped.
    fn fraction(&mut self, layout: TimeLayout) -> Result<u32, Problem> {
        let after = self.rest.strip_prefix(['.', ',']).unwrap_or("");
        let found = after.bytes().take_while(u8::is_ascii_digit).count();
        let length = match layout {
            TimeLayout::Seconds if found == 0 => return Ok(0),
            TimeLayout::Seconds => found,
            TimeLayout::Micros if found < 6 => return Err(self.unexpected(".000000")),
            TimeLayout::Micros => 6,
        };
        let digits = &after.as_bytes()[..length.min(9)];
        self.rest = &after[length..];
        let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        Ok(digits.len().try_into().map_or(0, |length: u32| number * 10_u32.pow(9 - length)))
    }

    /// The offset from UTC in seconds. As in Go it may be 24 hours or 60 minutes.
    fn offset(&mut self) -> Result<i64, Problem> {
        const ELEMENT: &str = "Z07:00";
        if let Some(after) = self.rest.strip_prefix('Z') {
            self.rest = after;
            return Ok(0);
        }
        let whole = Self { rest: self.rest };
        let sign = match self.rest.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(whole.unexpected(ELEMENT)),
        };
        self.rest = &self.rest[1..];
        let parsed = self.number(2, ELEMENT, 0..=24, "time zone offset hour").and_then(|hours| {
            self.literal(":")?;
            Ok((hours, self.number(2, ELEMENT, 0..=60, "time zone offset minute")?))
        });
        let (hours, minutes) = parsed.map_err(|problem| match problem {
            Problem::Unexpected { .. } => whole.unexpected(ELEMENT),
            other => other,
        })?;
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(i64, u32)> {
        parse(text, TimeLayout::Seconds).ok().map(|time| (time.seconds, time.nanos))
    }

    #[test]
    fn timestamps_are_parsed_and_printed() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_794_765_257, "2026-11-15T17:54:17"),
            (-1, "1969-12-31T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),
            (-62_135_596_800, "0001-01-01T00:00:00"),
            (253_402_300_799, "9999-12-31T23:59:59"),
        ] {
            assert_eq!(print(seconds), text);
            assert_eq!(parsed(&format!("{text}Z")), Some((seconds, 0)));
        }
    }

    #[test]
    fn offsets_and_fractions_are_accepted() {
        assert_eq!(parsed("1970-01-01T01:30:00+01:30"), Some((0, 0)));
        assert_eq!(parsed("1969-12-31T00:00:00-24:00"), Some((0, 0)));
        assert_eq!(parsed("1970-01-01T00:00:01.5Z"), Some((1, 500_000_000)));
        assert_eq!(parsed("1970-01-01T00:00:01,0000000019Z"), Some((1, 1)));
        assert_eq!(parsed("1970-01-01T1:00:00Z"), Some((3600, 0)));
        let micros = parse("1970-01-01T00:00:00.123456Z", TimeLayout::Micros).unwrap();
        assert_eq!(micros.nanos, 123_456_000);
    }

    /// The messages equal the messages of Go's `time.Parse`.
    #[test]
    fn errors_have_the_messages_of_time_parse() {
        let cases = [
            ("yesterday", Err(("yesterday", "2006"))),
            ("2026-1-01", Err(("1-01", "01"))),
            ("2026-01-01", Err(("", "T"))),
            ("2026-01-01T00:00:00", Err(("", "Z07:00"))),
            ("2026-01-01T00:00:00.Z", Err((".Z", "Z07:00"))),
            ("2026-01-01T00:00:00+0100", Err(("+0100", "Z07:00"))),
            ("2026-13-01T00:00:00Z", Ok("month out of range")),
            ("2026-02-29T00:00:00Z", Ok("day out of range")),
            ("2026-01-00T00:00:00Z", Ok("day out of range")),
            ("2026-01-01T24:00:00Z", Ok("hour out of range")),
            ("2026-01-01T00:60:00Z", Ok("minute out of range")),
            ("2026-01-01T00:00:60Z", Ok("second out of range")),
            ("2026-01-01T00:00:00+25:00", Ok("time zone offset hour out of range")),
            ("2026-01-01T00:00:00Z\"é", Ok("extra text: \"\\\"\\xc3\\xa9\"")),
        ];
        for (text, expected) in cases {
            let message = parse(text, TimeLayout::Seconds).unwrap_err().to_string();
            let end = match expected {
                Err((rest, element)) => {
                    format!(" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{rest}\" as \"{element}\"")
                }
                Ok(problem) => format!(": {problem}"),
            };
            assert!(message.starts_with("parsing time \"") && message.ends_with(&end), "{message} / {end}");
        }
        for (text, rest, element) in [
            ("2026-01-02T03:04:05Z", "Z", ".000000"),
            ("2026-01-02T03:04:05.12345Z", ".12345Z", ".000000"),
            ("2026-01-02T03:04:05.1234567Z", "7Z", "Z07:00"),
        ] {
            let message = parse(text, TimeLayout::Micros).unwrap_err().to_string();
            assert!(message.ends_with(&format!("cannot parse \"{rest}\" as \"{element}\"")), "{message}");
        }
    }

    #[test]
    fn every_day_has_one_date() {
        for days_after in (-719_528..=2_932_896).step_by(97) {
            let (year, month, day) = date(days_after);
            assert_eq!(days(year, month, day), days_after);
            assert_eq!(parse_date(&format!("{year:04}-{month:02}-{day:02}")), Some(days_after));
        }
        for text in ["2024-02-30", "2023-02-29", "2024-1-01", "2024-01-01Z", "2024/01/01", "2024-00-01", ""] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
