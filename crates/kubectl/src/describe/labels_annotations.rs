//! Labels and annotations, one a line (K3.1).

use gantry_json::Value;

use crate::field::{members, shown};
use crate::three_way::LAST_APPLIED;

/// A longer annotation gets lines of its own.
const LONGEST: usize = 140;

/// Labels under a title; `indent` is before the title.
pub(super) fn labels(title: &str, indent: &str, object: &Value, pointer: &str) -> String {
    multiline(
        title,
        indent,
        &members(object, pointer)
            .into_iter()
            .map(|(key, value)| format!("{key}={}", shown(value)))
            .collect::<Vec<_>>(),
    )
}

/// Annotations under a title, without the last applied configuration.
pub(super) fn annotations(title: &str, indent: &str, object: &Value, pointer: &str) -> String {
    let shown_ones = members(object, pointer).into_iter().filter(|(key, _)| *key != LAST_APPLIED);
    let rendered = shown_ones.map(|(key, value)| {
        let value = shown(value);
        let value = value.trim_end_matches('\n');
        if key.len() + value.len() + 2 <= LONGEST && !value.contains('\n') {
            return format!("{key}: {value}");
        }
        let cut = value.lines().map(|line| {
            let short: String = line.chars().take(LONGEST - 2).collect();
            let more = if short.len() < line.len() { "..." } else { "" };
            format!("\n\t  {short}{more}")
        });
        format!("{key}:{}", cut.collect::<String>())
    });
    multiline(title, indent, &rendered.collect::<Vec<_>>())
}

/// Lines under a title; `<none>` if there are none.
pub(super) fn multiline(title: &str, indent: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("{indent}{title}\t<none>\n");
    }
    let rendered = lines.iter().enumerate().map(|(nth, line)| match nth {
        0 => format!("{indent}{title}\t{line}\n"),
        // Further lines have an empty first cell, regardless of the indentation of the title.
        _ => format!("\t{line}\n"),
    });
    rendered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3.1: sorted, one per line, without the last applied configuration, long ones cut.
    #[test]
    fn annotations_are_reported_one_a_line() {
        let long = "x".repeat(150);
        let object = json!({"a": {"z": "1", "b": "two\nlines", LAST_APPLIED: "{}", "long": long}});
        let cut = "x".repeat(138);
        assert_eq!(
            annotations("Annotations:", "", &object, "/a"),
            format!("Annotations:\tb:\n\t  two\n\t  lines\n\tlong:\n\t  {cut}...\n\tz: 1\n")
        );
        assert_eq!(labels("Labels:", "  ", &json!({}), "/l"), "  Labels:\t<none>\n");
        assert_eq!(labels("Labels:", "", &json!({"l": {"b": "2", "a": "1"}}), "/l"), "Labels:\ta=1\n\tb=2\n");
    }
}
