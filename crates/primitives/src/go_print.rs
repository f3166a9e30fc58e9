//! JSON values as Go prints them, for error messages: `map[image:x:2 name:b]`.

use gantry_json::{Number, Value};

use crate::refusal::go_float;

/// The value as Go's `%v` prints it: maps by key, strings without quotes, lists in brackets.
pub fn as_go_prints(value: &Value) -> String {
    let mut text = String::new();
    print(value, &mut text);
    text
}

/// A list, or several of them, as Go's `%v` prints it.
pub fn list_as_go_prints(values: &[Value]) -> String {
    let mut text = String::new();
    print_list(values, &mut text);
    text
}

/// The type of a value as Go's `%T` prints it.
pub fn type_as_go_prints(value: &Value) -> &'static str {
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

/// Integers are printed as they are, unless they are too large for Go's integers.
fn print_number(number: &Number, text: &mut String) {
    match number.as_f64() {
        Some(float) if number.is_f64() || number.as_i64().is_none() => text.push_str(&go_float(float)),
        _ => text.push_str(&number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn values_are_printed_as_by_go() {
        for (value, text) in [
            (json!({"image": "x:2", "$patch": "merge"}), "map[$patch:merge image:x:2]"),
            (json!([{"name": "a"}, {"name": "b"}]), "[map[name:a] map[name:b]]"),
            (json!({"a": null, "b": true, "c": [1, -2], "d": {}}), "map[a:<nil> b:true c:[1 -2] d:map[]]"),
            (json!([1.5, 1.0, 1e21, 2.5e-7, 1_234_567.5]), "[1.5 1 1e+21 2.5e-07 1.2345675e+06]"),
        ] {
            assert_eq!(as_go_prints(&value), text);
        }
    }
}
