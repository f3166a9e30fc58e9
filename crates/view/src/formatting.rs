//! Numbers, durations and lists as text.

use std::time::Duration;

use gantry_model::Name;

/// The number of names in a list before it is truncated.
const NAMES_MAX: usize = 5;

/// A number with its noun: `1 pod`, `3 pods`.
pub fn count(n: i64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A duration with its two largest units: `45s`, `3m20s`, `2h5m`, `3d4h`.
pub(crate) fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let two = |large: u64, unit: &str, small: u64, subunit: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{subunit}"),
    };
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => two(seconds / 60, "m", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "m"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// The first few names, and how many more there are.
pub(crate) fn names(names: &[Name]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES_MAX).map(Name::as_str).collect();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A message on one line, trimmed.
pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes control characters: messages of the cluster may hold escape codes.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_at_most_two_units() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (200, "3m20s"),
            (3_600, "1h"),
            (7_500, "2h5m"),
            (273_600, "3d4h"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn long_lists_are_truncated_and_counted() {
        let all: Vec<Name> = (1..8).map(|n| Name::from(format!("web-{n}"))).collect();
        assert_eq!(names(&all[..2]), "web-1, web-2");
        assert_eq!(names(&all), "web-1, web-2, web-3, web-4, web-5 and 2 more");
    }
}
