//! Short forms of ages: `75s`, `5m30s`, `3d4h`, `2y30d`.

use gantry_json::Value;

use crate::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The short form of the age of a time; `<unknown>` if it is not set.
pub fn since(now: Timestamp, then: &Value) -> String {
    let then = then.as_str().and_then(Timestamp::parse);
    then.map_or_else(|| "<unknown>".to_owned(), |then| short(now.seconds_after(then)))
}

/// A duration in at most two units, coarser the longer it is.
pub fn short(seconds: i64) -> String {
    let two = |whole: i64, unit: &str, rest: i64, smaller: &str| match rest {
        0 => format!("{whole}{unit}"),
        rest => format!("{whole}{unit}{rest}{smaller}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Appendix C: fractions of a second are dropped.
    #[test]
    fn fractions_are_left_out() {
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01.999999Z"), Some(Timestamp::from_secs(1)));
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01Z"), Some(Timestamp::from_secs(1)));
        assert_eq!(Timestamp::parse("now."), None);
    }

    /// Appendix C: the format of durations.
    #[test]
    fn units_of_durations_grow_with_age() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (75, "75s"),
            (119, "119s"),
            (120, "2m"),
            (330, "5m30s"),
            (599, "9m59s"),
            (600, "10m"),
            (47 * MINUTE + 59, "47m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 12 * MINUTE, "3h12m"),
            (8 * HOUR, "8h"),
            (15 * HOUR + 59 * MINUTE, "15h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (3 * DAY + 4 * HOUR, "3d4h"),
            (8 * DAY, "8d"),
            (45 * DAY + 5 * HOUR, "45d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + 30 * DAY, "2y30d"),
            (9 * YEAR + 200 * DAY, "9y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(short(seconds), text);
        }
    }

    /// Appendix C: an unknown age, and one from a clock that is slightly ahead.
    #[test]
    fn ages_may_be_unknown_or_just_ahead() {
        let now = Timestamp::parse("2026-01-01T00:00:10Z").unwrap();
        assert_eq!(since(now, &Value::Null), "<unknown>");
        assert_eq!(since(now, &Value::from("2026-01-01T00:00:11Z")), "0s");
        assert_eq!(since(now, &Value::from("2026-01-01T00:00:12Z")), "<invalid>");
        assert_eq!(since(now, &Value::from("2026-01-01T00:00:01Z")), "9s");
    }

    /// Parses a printed duration to seconds.
    fn meaning(text: &str) -> i64 {
        let mut total = 0;
        let mut digits = String::new();
        for c in text.chars() {
            let unit = match c {
                's' => 1,
                'm' => MINUTE,
                'h' => HOUR,
                'd' => DAY,
                'y' => YEAR,
                digit => {
                    digits.push(digit);
                    continue;
                }
            };
            total += unit * digits.parse::<i64>().unwrap();
            digits.clear();
        }
        total
    }

    proptest! {
        /// Appendix C: a longer duration is never printed as a shorter one, and none as longer than it is.
        #[test]
        fn durations_never_go_backwards(one in 0..20 * YEAR, more in 0..2 * YEAR) {
            prop_assert!(meaning(&short(one)) <= meaning(&short(one + more)));
            prop_assert!(meaning(&short(one)) <= one);
        }

        #[test]
        fn any_duration_can_be_printed(text in ".*", seconds: i64) {
            let _ = Timestamp::parse(&text);
            prop_assert!(!short(seconds).is_empty());
        }
    }
}
