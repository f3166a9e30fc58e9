//! Timestamps in whole seconds: `2026-11-15T17:54:17Z`.

use std::fmt;

use gantry_formats::rfc3339::{self, TimeLayout};

/// A point in time in seconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

const SECONDS_PER_DAY: i64 = 86_400;

impl Timestamp {
    /// The time so many seconds after the epoch.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs)
    }

    /// The time so many seconds later.
    pub const fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// The seconds since an earlier time.
    pub const fn seconds_after(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The format of HTTP: `Sun, 15 Nov 2026 17:54:17 GMT`.
    pub fn http_date(self) -> String {
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let days = self.0.div_euclid(SECONDS_PER_DAY);
        let (year, month, day) = rfc3339::date(days);
        let name =
            |names: &'static [&str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
        let (weekday, month) = (name(&DAYS, days.rem_euclid(7)), name(&MONTHS, month - 1));
        let second = self.0.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let (weekday, month) = (weekday.unwrap_or_default(), month.unwrap_or_default());
        format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }

    /// Parses a time in UTC, as the API writes it; fractions of a second are dropped. `None` for any other format.
    pub fn parse(text: &str) -> Option<Self> {
        let time = rfc3339::parse(text, TimeLayout::Seconds).ok().filter(|_| text.ends_with('Z'));
        time.map(|time| Self(time.seconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", rfc3339::print(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A1.16: the dates of HTTP headers.
    #[test]
    fn a_time_is_printed_for_http() {
        assert_eq!(Timestamp::from_secs(0).http_date(), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(
            Timestamp::parse("2026-11-15T17:54:17Z").unwrap().http_date(),
            "Sun, 15 Nov 2026 17:54:17 GMT"
        );
    }

    #[test]
    fn times_are_parsed_and_printed() {
        for (secs, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_794_765_257, "2026-11-15T17:54:17Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp::from_secs(secs).to_string(), text);
            assert_eq!(Timestamp::parse(text), Some(Timestamp::from_secs(secs)));
        }
        for day in 0..200_000 {
            let time = Timestamp::from_secs((day - 50_000) * SECONDS_PER_DAY + 12_345);
            assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }
    }

    #[test]
    fn other_formats_are_not_parsed() {
        for text in [
            "",
            "2026-11-15",
            "2026-11-15T17:54:17+01:00",
            "2026-13-15T17:54:17Z",
            "9223372036854775807-01-01T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "xZ",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01.999999Z"), Some(Timestamp::from_secs(1)));
    }
}
