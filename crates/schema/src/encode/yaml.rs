//! YAML in block style, members sorted by name.

use serde_json::Value;

use gantry_primitives::refusal::go_float;

/// Converts JSON to YAML; `None` if it is invalid.
pub fn yaml(json: &[u8]) -> Option<String> {
    serde_json::from_slice(json).ok().as_ref().map(yaml_text)
}

/// The YAML of a value.
pub fn yaml_text(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(members) if !members.is_empty() => write_members(members, 0, &mut out),
        Value::Array(elements) if !elements.is_empty() => write_elements(elements, 0, &mut out),
        scalar => {
            out.push_str(&written(scalar, 0, 0));
            out.push('\n');
        }
    }
    out
}

fn write_members(members: &serde_json::Map<String, Value>, level: usize, out: &mut String) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    for (key, value) in members {
        indent(level, out);
        out.push_str(&in_one_line(key));
        out.push(':');
        write_value(value, level, out);
    }
}

fn write_elements(elements: &[Value], level: usize, out: &mut String) {
    for element in elements {
        indent(level, out);
        out.push('-');
        match element {
            Value::Object(members) if !members.is_empty() => {
                // The first member is on the line of the dash.
                let mut inner = String::new();
                write_members(members, level + 1, &mut inner);
                out.push(' ');
                out.push_str(inner.trim_start());
            }
            Value::Array(elements) if !elements.is_empty() => {
                // So is the first element.
                let mut inner = String::new();
                write_elements(elements, level + 1, &mut inner);
                out.push(' ');
                out.push_str(inner.trim_start());
            }
            scalar => write_scalar(scalar, level, out),
        }
    }
}

fn write_value(value: &Value, level: usize, out: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            write_members(members, level + 1, out);
        }
        Value::Array(elements) if !elements.is_empty() => {
            out.push('\n');
            write_elements(elements, level, out);
        }
        scalar => write_scalar(scalar, level, out),
    }
}

fn write_scalar(scalar: &Value, level: usize, out: &mut String) {
    out.push(' ');
    let column = out.chars().rev().take_while(|letter| *letter != '\n').count();
    out.push_str(&written(scalar, level, column));
    out.push('\n');
}

fn written(scalar: &Value, level: usize, column: usize) -> String {
    match scalar {
        Value::String(string) => text(string, level, column),
        Value::Object(_) => "{}".to_owned(),
        Value::Array(_) => "[]".to_owned(),
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(float) if float != 0.0 => go_float(float),
            _ => "0".to_owned(),
        },
        other => other.to_string(),
    }
}

/// A string: a block if it has several lines, plain if YAML reads it as a string, otherwise quoted.
fn text(text: &str, level: usize, column: usize) -> String {
    let fits_a_block = !text.contains(" \n") && !text.ends_with(' ') && text.chars().all(is_printable);
    if !text.contains('\n') || !fits_a_block {
        return folded(&in_one_line(text), level, column);
    }
    let hint = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomp = match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
        Some(_) => "",
    };
    let mut block = format!("|{hint}{chomp}");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        block.push('\n');
        if !line.is_empty() {
            indent(level + 1, &mut block);
            block.push_str(line);
        }
    }
    block
}

/// A string at this column, folded at the first single space after the maximal width.
fn folded(line: &str, level: usize, column: usize) -> String {
    const WIDTH: usize = 80;
    let letters: Vec<char> = line.chars().collect();
    let quote = letters.first().copied().filter(|first| ['\'', '"'].contains(first));
    let (mut folded, mut width, mut is_after_space) = (String::with_capacity(line.len()), column, false);
    for (nth, &letter) in letters.iter().enumerate() {
        let is_before_space = letters.get(nth + 1) == Some(&' ');
        // A space next to a quote would be lost; in double quotes it can be escaped.
        let may_break = match quote {
            None => !is_before_space,
            Some(quote) => nth > 1 && nth + 2 < letters.len() && (!is_before_space || quote == '"'),
        };
        if letter == ' ' && !is_after_space && width > WIDTH && may_break {
            folded.push('\n');
            indent(level + 1, &mut folded);
            width = 2 * (level + 1);
            if is_before_space {
                folded.push('\\');
                width += 1;
            }
        } else {
            folded.push(letter);
            width += 1;
        }
        is_after_space = letter == ' ';
    }
    folded
}

/// A string in one line: plain, in single quotes if it has special characters, otherwise in double quotes.
fn in_one_line(text: &str) -> String {
    if text.contains('\n') || !text.chars().all(is_printable) || is_taken_for_something_else(text) {
        return Value::from(text).to_string();
    }
    let begins_oddly = text.starts_with(|first: char| "#,[]{}&*!|>'\"%@`".contains(first))
        || text.starts_with("---")
        || text.starts_with("...")
        || ["-", "?", ":"].into_iter().any(|sign| text == sign || text.starts_with(&format!("{sign} ")));
    let has_signs = text.contains(": ") || text.ends_with(':') || text.contains(" #");
    if begins_oddly || has_signs || text.starts_with(' ') || text.ends_with(' ') {
        return format!("'{}'", text.replace('\'', "''"));
    }
    text.to_owned()
}

fn is_printable(letter: char) -> bool {
    letter == '\n' || !letter.is_control() && letter != '\u{feff}'
}

/// Whether YAML 1.1 or 1.2 reads it as something else than a string.
fn is_taken_for_something_else(text: &str) -> bool {
    let words = ["", "~", "<<", "=", "y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    words.contains(&text.to_ascii_lowercase().as_str()) || is_a_number(text) || is_a_time(text)
}

fn is_a_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    let special = [".inf", ".nan"].contains(&digits.to_ascii_lowercase().as_str());
    let radix = ["0x", "0o", "0b"].into_iter().any(|prefix| {
        let rest = digits.strip_prefix(prefix);
        rest.is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|digit| digit.is_ascii_hexdigit() || digit == '_')
        })
    });
    let plain = digits.replace('_', "");
    let begins = plain.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    // YAML 1.1 reads 1:30 as a number of base sixty.
    let sexagesimal =
        begins && plain.contains(':') && plain.split(':').all(|part| part.parse::<f64>().is_ok());
    special || radix || sexagesimal || (begins && plain.parse::<f64>().is_ok())
}

fn is_a_time(text: &str) -> bool {
    let date = text.get(..10).unwrap_or_default().as_bytes();
    let looks_like_one = date.len() == 10
        && date.iter().enumerate().all(|(nth, byte)| match nth {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    looks_like_one && text[10..].chars().all(|letter| letter.is_ascii_digit() || "TtZz :.+-".contains(letter))
}

fn indent(level: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Format, plain};
    use serde_json::json;

    /// A9.2: YAML is read back as the same object.
    #[test]
    fn yaml_says_the_same_as_json() {
        let object = json!({
            "kind": "ConfigMap", "data": {"a": "two\nlines", "yes": "no", "n": "1", "e": "", "t": "key: value # x"},
            "metadata": {"labels": {}, "finalizers": ["a/b", "c"], "owners": [{"name": "x", "deep": [[1, 2], []]}]},
            "spec": {"replicas": 3, "paused": true, "nothing": null},
        });
        let written = yaml(object.to_string().as_bytes()).unwrap();
        assert_eq!(plain(written.as_bytes(), Format::Yaml).unwrap().0, object, "{written}");
        assert!(written.contains("metadata:\n  finalizers:\n  - a/b\n  - c\n"), "{written}");
        assert_eq!(
            yaml_text(&json!([1_234_567.5, 1e30, 1e-6, 0.25, -0.0])),
            "- 1.2345675e+06\n- 1e+30\n- 1e-06\n- 0.25\n- 0\n"
        );
        assert!(written.contains("  - deep:\n    - - 1\n      - 2\n    - []\n    name: x\n"), "{written}");
        assert_eq!(yaml(b"nonsense"), None);
    }

    /// A9.2: quotes only where YAML needs them, several lines as a block.
    #[test]
    fn yaml_is_written_as_go_writes_it() {
        let cases = [
            ("nginx:1.7.9", "nginx:1.7.9"),
            ("a: b", "'a: b'"),
            ("*", "'*'"),
            ("it's", "it's"),
            ("25%", "25%"),
            ("%25", "'%25'"),
            ("true", "\"true\""),
            ("1", "\"1\""),
            ("1.5e3", "\"1.5e3\""),
            ("1:30", "\"1:30\""),
            ("2026-11-15T17:54:17Z", "\"2026-11-15T17:54:17Z\""),
            ("2026-11-15 or so", "2026-11-15 or so"),
            ("", "\"\""),
            ("- x", "'- x'"),
            ("-x", "-x"),
            ("{}", "'{}'"),
            ("tab\there", "\"tab\\there\""),
            ("two\nlines", "|-\n  two\n  lines"),
            ("two\nlines\n", "|\n  two\n  lines"),
            ("two\n\n", "|+\n  two\n"),
        ];
        for (value, written) in cases {
            assert_eq!(yaml_text(&json!({"k": value})), format!("k: {written}\n"), "{value}");
            assert_eq!(
                plain(yaml_text(&json!({"k": value})).as_bytes(), Format::Yaml).unwrap().0,
                json!({"k": value})
            );
        }
    }
    /// A9.2: long strings are folded at spaces, and strings in lists are indented below their dash.
    #[test]
    fn long_texts_are_folded_as_go_folds_them() {
        let words = |n: usize| vec!["wwwwwwwww"; n].join(" ");
        let cases = [
            (words(8), words(8)),
            (words(9), words(8) + "\n  wwwwwwwww"),
            (format!("a: {}", words(9)), format!("'a: {}\n  wwwwwwwww'", words(8))),
            (format!("{}  w w", words(8)), format!("{}  w\n  w", words(8))),
            (format!("\t{}", words(9)), format!("\"\\t{}\n  wwwwwwwww\"", words(8))),
            (format!("\t{}  w", words(8)), format!("\"\\t{}\n  \\ w\"", words(8))),
            ("w".repeat(200), "w".repeat(200)),
        ];
        for (value, written) in cases {
            let text = yaml_text(&json!({"k": value}));
            assert_eq!(text, format!("k: {written}\n"));
            assert_eq!(plain(text.as_bytes(), Format::Yaml).unwrap().0, json!({"k": value}));
        }
        let list = json!({"args": ["two\nlines\n", words(9)]});
        let text = yaml_text(&list);
        assert_eq!(text, format!("args:\n- |\n  two\n  lines\n- {}\n  wwwwwwwww\n", words(8)));
        assert_eq!(plain(text.as_bytes(), Format::Yaml).unwrap().0, list);
    }
}
