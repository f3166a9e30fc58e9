//! Rows of Events of both groups.

use gantry_json::{Value, json};

use crate::Timestamp;
use crate::table::age::since;
use crate::table::cell::{at, name, number, text};
use crate::table::column::{TableColumn, WIDE_NAME, text as column, wide};

pub(crate) const COLUMNS: &[TableColumn] = &[
    column("Last Seen"),
    column("Type"),
    column("Reason"),
    column("Object"),
    wide("Subobject"),
    wide("Source"),
    column("Message"),
    wide("First Seen"),
    wide("Count"),
    WIDE_NAME,
];

pub(crate) fn cells(event: &Value, now: Timestamp) -> Vec<Value> {
    let object = either(event, ["involvedObject", "regarding"]);
    let first = [either(event, ["firstTimestamp", "deprecatedFirstTimestamp"]), at(event, "eventTime")];
    let first = first.into_iter().find(|time| !time.is_null()).unwrap_or(&Value::Null);
    let series = at(event, "series");
    let (last, count) = if series.is_null() {
        let last = either(event, ["lastTimestamp", "deprecatedLastTimestamp"]);
        let count = either(event, ["count", "deprecatedCount"]).as_i64().filter(|count| *count != 0);
        (if last.is_null() { first } else { last }, count.unwrap_or(1))
    } else {
        (at(series, "lastObservedTime"), number(series, "count"))
    };
    vec![
        json!(since(now, last)),
        json!(text(event, "type")),
        json!(text(event, "reason")),
        json!(target(object)),
        json!(text(object, "fieldPath")),
        json!(source(event)),
        json!(either(event, ["message", "note"]).as_str().unwrap_or("").trim()),
        json!(since(now, first)),
        json!(count),
        json!(name(event)),
    ]
}

/// Returns the value of the first member that is set: the groups have different names.
fn either<'e>(event: &'e Value, members: [&str; 2]) -> &'e Value {
    members.into_iter().map(|member| &event[member]).find(|value| !value.is_null()).unwrap_or(&Value::Null)
}

fn target(object: &Value) -> String {
    let kind = text(object, "kind").to_lowercase();
    match text(object, "name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

fn source(event: &Value) -> String {
    let source = either(event, ["source", "deprecatedSource"]);
    let filled = |old: &'static str, new: &Value| match text(source, old) {
        "" => new.as_str().unwrap_or("").to_owned(),
        given => given.to_owned(),
    };
    let component = filled("component", either(event, ["reportingComponent", "reportingController"]));
    match filled("host", at(event, "reportingInstance")) {
        instance if instance.is_empty() => component,
        instance => format!("{component}, {instance}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix C: an Event of the newer group has the same row.
    #[test]
    fn both_shapes_of_an_event_have_the_same_row() {
        let now = Timestamp::parse("2026-01-01T00:05:00Z").unwrap();
        let new = json!({
            "metadata": {"name": "n"}, "regarding": {"kind": "Pod", "name": "p"}, "reason": "Scheduled", "type": "Normal",
            "note": " assigned\n", "eventTime": "2026-01-01T00:00:00.123456Z", "reportingController": "scheduler",
            "reportingInstance": "s-1", "series": {"count": 4, "lastObservedTime": "2026-01-01T00:04:00.000000Z"},
        });
        let mut core = new.clone();
        for (old, name) in [
            ("involvedObject", "regarding"),
            ("message", "note"),
            ("reportingComponent", "reportingController"),
        ] {
            core[old] = core[name].take();
        }
        let row = cells(&new, now);
        assert_eq!(row, cells(&core, now));
        assert_eq!(
            row,
            [
                json!("60s"),
                json!("Normal"),
                json!("Scheduled"),
                json!("pod/p"),
                json!(""),
                json!("scheduler, s-1"),
                json!("assigned"),
                json!("5m"),
                json!(4),
                json!("n")
            ]
        );
    }

    /// Appendix C: an Event without a series has the count 1.
    #[test]
    fn one_event_counts_as_one() {
        let row = cells(&json!({"regarding": {"kind": "Node"}}), Timestamp::from_secs(0));
        assert_eq!((&row[0], &row[3], &row[8]), (&json!("<unknown>"), &json!("node"), &json!(1)));
    }
}
