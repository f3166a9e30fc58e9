//! The events about an object, as a table of their own (K3.5).

use gantry_json::Value;
use gantry_primitives::Timestamp;

use super::ago;
use crate::field::{at, number, text};

/// The events, oldest first.
pub(crate) fn events(events: &[Value], now: Timestamp) -> String {
    if events.is_empty() {
        return "Events:\t<none>\n".to_owned();
    }
    let mut sorted: Vec<&Value> = events.iter().collect();
    sorted.sort_by(|one, other| last(one).cmp(last(other)));
    let mut out =
        String::from("Events:\n  Type\tReason\tAge\tFrom\tMessage\n  ----\t------\t----\t----\t-------\n");
    for event in sorted {
        let cells = [
            text(event, "/type").to_owned(),
            text(event, "/reason").to_owned(),
            age(event, now),
            from(event).to_owned(),
            text(event, "/message").trim().to_owned(),
        ];
        out.push_str(&format!("  {}\n", cells.join("\t")));
    }
    out
}

/// The time of the last occurrence, in sortable form; empty if unknown.
pub(crate) fn last(event: &Value) -> &str {
    let known = ["/lastTimestamp", "/series/lastObservedTime", "/eventTime"].into_iter();
    let known = known.map(|field| text(event, field)).find(|time| !time.is_empty());
    // Without the zone, a whole second sorts before its own fractions.
    known.unwrap_or_default().trim_end_matches('Z')
}

/// `6s`, or `2s (x3 over 9s)` if it happened more than once.
pub(crate) fn age(event: &Value, now: Timestamp) -> String {
    let first = match at(event, "/firstTimestamp") {
        Value::Null => at(event, "/eventTime"),
        first => first,
    };
    let series = number(event, "/series/count");
    let count = if series > 1 { series } else { number(event, "/count") };
    if count <= 1 {
        return ago(now, first);
    }
    format!("{} (x{count} over {})", ago(now, &Value::from(format!("{}Z", last(event)))), ago(now, first))
}

fn from(event: &Value) -> &str {
    match text(event, "/source/component") {
        "" => text(event, "/reportingComponent"),
        component => component,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3.5: oldest first, with their counts.
    #[test]
    fn events_are_reported_by_age() {
        let now = Timestamp::parse("2026-01-01T00:00:10Z").unwrap();
        let event = |reason: &str, first: &str, last: &str, count: i64| {
            json!({"type": "Normal", "reason": reason, "count": count, "source": {"component": "c"}, "message": " m\n",
                "firstTimestamp": first, "lastTimestamp": last})
        };
        let all = [
            event("B", "2026-01-01T00:00:01Z", "2026-01-01T00:00:08Z", 3),
            event("A", "2026-01-01T00:00:04Z", "2026-01-01T00:00:04Z", 1),
        ];
        let rendered = events(&all, now);
        assert!(
            rendered.ends_with("  Normal\tA\t6s\tc\tm\n  Normal\tB\t2s (x3 over 9s)\tc\tm\n"),
            "{rendered}"
        );
        assert_eq!(events(&[], now), "Events:\t<none>\n");
    }
}
