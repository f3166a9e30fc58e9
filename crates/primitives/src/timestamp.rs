//! Timestamps in whole seconds: `2026-11-15T17:54:17Z`.

use std::fmt;

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
        let (year, month, day) = date(days);
        let name =
            |names: &'static [&str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
        let (weekday, month) = (name(&DAYS, days.rem_euclid(7)), name(&MONTHS, month - 1));
        let second = self.0.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let (weekday, month) = (weekday.unwrap_or_default(), month.unwrap_or_default());
        format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }

    /// Parses the API's own format; `None` for any other.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
        let mut date = date.splitn(3, '-').map(str::parse::<i64>);
        let mut time = time.splitn(3, ':').map(str::parse::<i64>);
        let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
        let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
        let in_range = (0..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..=60).contains(&second);
        in_range.then(|| Self(days(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0.div_euclid(SECONDS_PER_DAY));
        let second = self.0.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Days from the epoch to a date. Years are counted from March, so that the leap day is the last of its year.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days from the epoch: the inverse of [`days`].
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A1.16: the dates of HTTP headers.
    #[test]
    fn a_moment_is_written_for_http() {
        assert_eq!(Timestamp::from_secs(0).http_date(), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(
            Timestamp::parse("2026-11-15T17:54:17Z").unwrap().http_date(),
            "Sun, 15 Nov 2026 17:54:17 GMT"
        );
    }

    #[test]
    fn moments_are_read_and_written() {
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
            let moment = Timestamp::from_secs((day - 50_000) * SECONDS_PER_DAY + 12_345);
            assert_eq!(Timestamp::parse(&moment.to_string()), Some(moment));
        }
    }

    #[test]
    fn what_the_api_does_not_write_is_not_read() {
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
    }
}
