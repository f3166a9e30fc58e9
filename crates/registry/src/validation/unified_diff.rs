//! Unified diffs of objects for error messages, with the Go names of fields.

use std::fmt::Write;
use std::ops::Range;

use gantry_json::Value;

use super::go_names::go_name;
use crate::empties::is_omitted;
use crate::schema::{Field, MessageId, Type, schema};

/// The most pairs of lines that are compared to find the longest run of equal ones; of longer texts only the equal lines at
/// the start and at the end are found.
const PAIRS_MAX: usize = 4 << 20;
/// The number of context lines.
const CONTEXT: usize = 3;

/// Returns the unified diff between two values of this message.
pub(crate) fn unified_diff(message: &str, old: &Value, new: &Value) -> String {
    let (old, new) = (lines(message, old), lines(message, new));
    let old: Vec<_> = old.lines().collect();
    let new: Vec<_> = new.lines().collect();
    unified(&old, &new)
}

/// Formats a value on one line, with all fields of its message under their Go names.
pub(crate) fn on_one_line(message: &str, value: &Value) -> String {
    let lines = lines(message, value);
    let compact = lines.lines().map(|line| line.trim_start().replacen("\": ", "\":", 1));
    compact.collect()
}

fn lines(message: &str, value: &Value) -> String {
    let mut out = String::new();
    match schema().find(message) {
        Some(id) => write_message(&mut out, id, value, 0),
        None => write_plain(&mut out, value, 0),
    }
    out
}

/// Writes the fields of a message, including those that are not set. Types of `meta` are written as their JSON.
fn write_message(out: &mut String, id: MessageId, value: &Value, depth: usize) {
    let message = schema().message(id);
    let is_meta = message.name.starts_with("meta/");
    let fields = schema().each_field(id).filter(|field| !is_meta || !is_omitted(field, &value[field.json]));
    out.push('{');
    for (index, field) in fields.enumerate() {
        let name = if is_meta { field.json.to_owned() } else { go_name(message.name, field.json) };
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}\n{}\"{name}\": ", " ".repeat(depth + 1));
        write_field(out, field, &value[field.json], depth + 1);
    }
    if out.ends_with('{') {
        return out.push('}');
    }
    let _ = write!(out, "\n{}}}", " ".repeat(depth));
}

fn write_field(out: &mut String, field: &Field, value: &Value, depth: usize) {
    match (&field.kind, value) {
        (Type::Message(id), Value::Null) if !field.pointer => write_message(out, *id, value, depth),
        (Type::String, Value::Null) if !field.pointer => out.push_str("\"\""),
        (Type::Bool, Value::Null) if !field.pointer => out.push_str("false"),
        (Type::Int32 | Type::Int64, Value::Null) if !field.pointer => out.push('0'),
        (_, Value::Null) => out.push_str("null"),
        (Type::Message(id), _) => write_message(out, *id, value, depth),
        (Type::List(element), Value::Array(list)) => match element.as_ref() {
            Type::Message(id) => {
                write_list(out, list, depth, |out, one, depth| write_message(out, *id, one, depth));
            }
            _ => write_list(out, list, depth, write_plain),
        },
        _ => write_plain(out, value, depth),
    }
}

fn write_list(
    out: &mut String,
    list: &[Value],
    depth: usize,
    write_one: impl Fn(&mut String, &Value, usize),
) {
    out.push('[');
    for (index, one) in list.iter().enumerate() {
        let _ = write!(out, "{}\n{}", if index > 0 { "," } else { "" }, " ".repeat(depth + 1));
        write_one(out, one, depth + 1);
    }
    if list.is_empty() {
        return out.push(']');
    }
    let _ = write!(out, "\n{}]", " ".repeat(depth));
}

/// Writes JSON with an indentation of one space.
fn write_plain(out: &mut String, value: &Value, depth: usize) {
    let inner = " ".repeat(depth + 1);
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (index, (name, member)) in map.iter().enumerate() {
                let _ = write!(
                    out,
                    "{}\n{inner}{}: ",
                    if index > 0 { "," } else { "" },
                    Value::from(name.as_str())
                );
                write_plain(out, member, depth + 1);
            }
            let _ = write!(out, "\n{}}}", " ".repeat(depth));
        }
        Value::Array(list) => write_list(out, list, depth, write_plain),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// A step of the edit script: old lines, and the new lines that equal or replace them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    is_equal: bool,
    old: Range<usize>,
    new: Range<usize>,
}

fn unified(old: &[&str], new: &[&str]) -> String {
    let mut out = String::new();
    for hunk in hunks(steps(old, new)) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let (from, to) = (first.old.start..last.old.end, first.new.start..last.new.end);
        let _ = writeln!(out, "@@ -{} +{} @@", shown(&from), shown(&to));
        for step in &hunk {
            if step.is_equal {
                old[step.old.clone()].iter().for_each(|line| out.extend([" ", line, "\n"]));
                continue;
            }
            old[step.old.clone()].iter().for_each(|line| out.extend(["-", line, "\n"]));
            new[step.new.clone()].iter().for_each(|line| out.extend(["+", line, "\n"]));
        }
    }
    out
}

fn shown(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        many => format!("{},{many}", lines.start + 1),
    }
}

fn steps(old: &[&str], new: &[&str]) -> Vec<Step> {
    let mut matches = Vec::new();
    if old.len().saturating_mul(new.len()) <= PAIRS_MAX {
        find_matches(old, new, 0..old.len(), 0..new.len(), &mut matches);
    } else {
        let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (rest_old, rest_new) = (&old[start..], &new[start..]);
        let same = rest_old.iter().rev().zip(rest_new.iter().rev()).take_while(|(old, new)| old == new);
        let end = same.count();
        matches.extend([(0, 0, start), (old.len() - end, new.len() - end, end)]);
    }
    matches.push((old.len(), new.len(), 0));
    let (mut steps, mut at_old, mut at_new) = (Vec::new(), 0, 0);
    for (start_old, start_new, length) in matches {
        if at_old < start_old || at_new < start_new {
            steps.push(Step { is_equal: false, old: at_old..start_old, new: at_new..start_new });
        }
        (at_old, at_new) = (start_old + length, start_new + length);
        if length > 0 {
            steps.push(Step { is_equal: true, old: start_old..at_old, new: start_new..at_new });
        }
    }
    steps
}

/// Finds the longest run of equal lines, then recurses before and after it.
fn find_matches(
    old: &[&str],
    new: &[&str],
    in_old: Range<usize>,
    in_new: Range<usize>,
    matches: &mut Vec<(usize, usize, usize)>,
) {
    let mut best = (in_old.start, in_new.start, 0);
    let mut lengths = vec![0_usize; in_new.len() + 1];
    for line_old in in_old.clone() {
        let mut next = vec![0_usize; in_new.len() + 1];
        for line_new in in_new.clone().filter(|line| new[*line] == old[line_old]) {
            let length = lengths[line_new - in_new.start] + 1;
            next[line_new - in_new.start + 1] = length;
            if length > best.2 {
                best = (line_old + 1 - length, line_new + 1 - length, length);
            }
        }
        lengths = next;
    }
    let (start_old, start_new, length) = best;
    if length == 0 {
        return;
    }
    find_matches(old, new, in_old.start..start_old, in_new.start..start_new, matches);
    match matches.last_mut() {
        Some((before_old, before_new, before))
            if *before_old + *before == start_old && *before_new + *before == start_new =>
        {
            *before += length;
        }
        _ => matches.push(best),
    }
    find_matches(old, new, start_old + length..in_old.end, start_new + length..in_new.end, matches);
}

/// Groups steps into hunks with context lines.
fn hunks(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let last = steps.len().saturating_sub(1);
    let (mut hunks, mut hunk) = (Vec::new(), Vec::new());
    for (index, step) in steps.into_iter().enumerate() {
        let length = step.old.len();
        let head = |step: &Step| Step {
            old: step.old.start..step.old.start + length.min(CONTEXT),
            new: step.new.start..step.new.start + length.min(CONTEXT),
            ..*step
        };
        let tail = |step: &Step| Step {
            old: step.old.end - length.min(CONTEXT)..step.old.end,
            new: step.new.end - length.min(CONTEXT)..step.new.end,
            ..*step
        };
        match (step.is_equal, index == 0, index == last) {
            (true, true, _) => hunk.push(tail(&step)),
            (true, _, true) => hunk.push(head(&step)),
            (true, ..) if length > 2 * CONTEXT => {
                hunk.push(head(&step));
                hunks.push(std::mem::take(&mut hunk));
                hunk.push(tail(&step));
            }
            _ => hunk.push(step),
        }
    }
    if hunk.iter().any(|step| !step.is_equal) {
        hunks.push(hunk);
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn a_change_is_shown_with_the_fields_around_it() {
        let (old, new) = (
            json!({"hostPath": {"path": "/x", "type": ""}}),
            json!({"hostPath": {"path": "/y", "type": ""}}),
        );
        let expected = "@@ -2,7 +2,7 @@\n  \"GCEPersistentDisk\": null,\n  \"AWSElasticBlockStore\": null,\n  \
                        \"HostPath\": {\n-  \"Path\": \"/x\",\n+  \"Path\": \"/y\",\n   \"Type\": \"\"\n  },\n  \
                        \"Glusterfs\": null,\n";
        assert_eq!(unified_diff("core/v1.PersistentVolumeSource", &old, &new), expected);
    }

    #[test]
    fn lines_far_from_each_other_are_in_hunks_of_their_own() {
        let old: Vec<_> = "a b c d e f g h i j k l".split(' ').collect();
        let new: Vec<_> = "A b c d e f g h i j k L".split(' ').collect();
        let expected = "@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n@@ -9,4 +9,4 @@\n i\n j\n k\n-l\n+L\n";
        assert_eq!(unified(&old, &new), expected);
        assert_eq!(unified(&old, &old), "");
        assert_eq!(unified(&["a"], &["a", "b"]), "@@ -1 +1,2 @@\n a\n+b\n");
    }
}
