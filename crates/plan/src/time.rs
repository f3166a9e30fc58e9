//! Durations of a rollout as text.

use std::time::Duration;

/// A duration in seconds with one decimal below a minute, in whole seconds above: `0s`, `2.4s`, `20s`, `1m12s`, `1h0m5s`.
pub(crate) fn span(duration: Duration) -> String {
    let tenths = (duration.as_millis() + 50) / 100;
    if tenths < 600 {
        let (whole, tenth) = (tenths / 10, tenths % 10);
        return if tenth == 0 { format!("{whole}s") } else { format!("{whole}.{tenth}s") };
    }
    let seconds = (duration.as_millis() + 500) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, seconds) {
        (0, 0) => format!("{minutes}m"),
        (0, _) => format!("{minutes}m{seconds}s"),
        (_, 0) if minutes == 0 => format!("{hours}h"),
        (_, 0) => format!("{hours}h{minutes}m"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_a_decimal_below_a_minute() {
        for (millis, text) in [
            (0, "0s"),
            (2_440, "2.4s"),
            (20_000, "20s"),
            (59_960, "1m"),
            (72_400, "1m12s"),
            (3_600_000, "1h"),
            (3_660_000, "1h1m"),
            (3_605_000, "1h0m5s"),
        ] {
            assert_eq!(span(Duration::from_millis(millis)), text);
        }
    }
}
