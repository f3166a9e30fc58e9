//! Events as rows. Pure.

use gantry_json::Value;
use gantry_primitives::Timestamp;

use crate::describe::event_age;
use crate::failure::Failure;
use crate::field::text;
use crate::print::{Rows, Widths};

/// The types that events have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventType {
    Normal,
    Warning,
}

impl EventType {
    /// Reads the values of `--types`, in any case.
    pub(super) fn parse_all(names: &[String]) -> Result<Vec<Self>, Failure> {
        let parse = |name: &String| match name.to_lowercase().as_str() {
            "normal" => Ok(Self::Normal),
            "warning" => Ok(Self::Warning),
            _ => Err(Failure::other("valid --types are Normal or Warning")),
        };
        names.iter().filter(|name| !name.is_empty()).map(parse).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// Whether an event has one of these types; an empty list matches all.
pub(super) fn is_of(types: &[EventType], event: &Value) -> bool {
    let own = text(event, "/type");
    types.is_empty() || types.iter().any(|one| own.eq_ignore_ascii_case(one.name()))
}

/// The table of events, with columns at least as wide as before.
///
/// A message of several lines keeps them; columns are aligned separately below it.
pub(super) fn lines(
    events: &[Value],
    namespaces: bool,
    header: bool,
    now: Timestamp,
    widths: &mut Widths,
) -> String {
    let mut rows = Rows { header: columns(namespaces), rows: Vec::new() };
    let (mut out, mut header) = (String::new(), header);
    for event in events {
        let message = text(event, "/message").trim();
        let (first, rest) =
            message.split_once('\n').map_or((message, None), |(first, rest)| (first, Some(rest)));
        rows.rows.push(row(event, namespaces, first, now));
        if let Some(rest) = rest {
            out.push_str(&rows.lines(widths, header));
            out.push_str(rest);
            out.push('\n');
            rows.rows.clear();
            header = false;
        }
    }
    if !rows.rows.is_empty() {
        out.push_str(&rows.lines(widths, header));
    }
    out
}

fn columns(namespaces: bool) -> Vec<String> {
    let names = ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"].map(str::to_owned);
    names.into_iter().skip(usize::from(!namespaces)).collect()
}

fn row(event: &Value, namespaces: bool, message: &str, now: Timestamp) -> Vec<String> {
    let cells = [
        text(event, "/metadata/namespace").to_owned(),
        event_age(event, now),
        text(event, "/type").to_owned(),
        text(event, "/reason").to_owned(),
        format!("{}/{}", text(event, "/involvedObject/kind"), text(event, "/involvedObject/name")),
        message.to_owned(),
    ];
    cells.into_iter().skip(usize::from(!namespaces)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn event(kind: &str, name: &str, message: &str) -> Value {
        json!({"metadata": {"namespace": "shop"}, "type": kind, "reason": "R", "message": message, "count": 1,
            "firstTimestamp": "2026-01-01T00:00:04Z", "involvedObject": {"kind": "Pod", "name": name}})
    }

    fn now() -> Timestamp {
        Timestamp::parse("2026-01-01T00:00:10Z").unwrap()
    }

    #[test]
    fn an_event_is_a_row_with_its_namespace_if_there_are_several() {
        let events = [event("Normal", "a", " good\n"), event("Warning", "long-name", "bad")];
        assert_eq!(
            lines(&events, false, true, now(), &mut Widths::default()),
            "LAST SEEN   TYPE      REASON   OBJECT          MESSAGE\n\
             6s          Normal    R        Pod/a           good\n\
             6s          Warning   R        Pod/long-name   bad\n"
        );
        assert_eq!(
            lines(&events[..1], true, false, now(), &mut Widths::default()),
            "shop   6s    Normal   R     Pod/a   good\n"
        );
    }

    #[test]
    fn a_message_of_several_lines_keeps_them_and_columns_begin_anew() {
        let events = [event("Normal", "a", "one\n\ttwo\n"), event("Warning", "longer", "bad")];
        assert_eq!(
            lines(&events, false, true, now(), &mut Widths::default()),
            "LAST SEEN   TYPE     REASON   OBJECT   MESSAGE\n\
             6s          Normal   R        Pod/a    one\n\
             \ttwo\n\
             6s          Warning   R        Pod/longer   bad\n"
        );
    }

    #[test]
    fn types_are_read_in_any_case_and_others_refused() {
        let parse = |names: &[&str]| {
            EventType::parse_all(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let warnings = parse(&["warning"]).unwrap();
        assert!(is_of(&warnings, &event("Warning", "a", "")) && !is_of(&warnings, &event("Normal", "a", "")));
        assert!(is_of(&parse(&[""]).unwrap(), &event("Odd", "a", "")), "an empty list matches all types");
        assert_eq!(parse(&["Bogus"]).unwrap_err().lines(), "error: valid --types are Normal or Warning\n");
    }
}
