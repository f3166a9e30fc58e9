//! JSON values as Go prints them, because some refusals show parts of the patch that way: `map[image:x:2 name:b]`.

use std::fmt::Write;

use serde_json::{Number, Value};

/// The value as Go's `%v` prints it: maps by key, strings without quotes, lists in brackets.
pub(crate) fn as_go_prints(value: &Value) -> String {
    let mut text = String::new();
    print(value, &mut text);
    text
}

/// A list, or several of them, as Go's `%v` prints it.
pub(crate) fn list_as_go_prints(values: &[Value]) -> String {
    let mut text = String::new();
    print_list(values, &mut text);
    text
}

/// The type of a value as Go's `%T` prints it.
pub(crate) fn type_as_go_prints(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn print(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("<nil>"),
        Value::Bool(yes) => text.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => print_number(number, text),
        Value::String(string) => text.push_str(string),
        Value::Array(values) => print_list(values, text),
        Value::Object(members) => {
            text.push_str("map[");
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                text.push_str(key);
                text.push(':');
                print(member, text);
            }
            text.push(']');
        }
    }
}

fn print_list(values: &[Value], text: &mut String) {
    text.push('[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        print(value, text);
    }
    text.push(']');
}

/// Whole numbers are printed as they are; others with an exponent of two digits when very small or very large.
fn print_number(number: &Number, text: &mut String) {
    let float = match number.as_f64() {
        Some(float) if number.is_f64() => float,
        _ => {
            text.push_str(&number.to_string());
            return;
        }
    };
    let scientific = format!("{float:e}");
    let exponent =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
    if (-4..21).contains(&exponent) {
        text.push_str(&float.to_string());
    } else {
        let digits = scientific.split('e').next().unwrap_or_default();
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        let _ = write!(text, "{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_look_as_go_prints_them() {
        for (value, text) in [
            (json!({"image": "x:2", "$patch": "merge"}), "map[$patch:merge image:x:2]"),
            (json!([{"name": "a"}, {"name": "b"}]), "[map[name:a] map[name:b]]"),
            (json!({"a": null, "b": true, "c": [1, -2], "d": {}}), "map[a:<nil> b:true c:[1 -2] d:map[]]"),
            (json!([1.5, 1.0, 1e21, 2.5e-7, 1e20]), "[1.5 1 1e+21 2.5e-07 100000000000000000000]"),
        ] {
            assert_eq!(as_go_prints(&value), text);
        }
    }
}
