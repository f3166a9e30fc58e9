//! The differences between two masked traces, field by field.

use gantry_json::Value;

use crate::case::Case;

/// Returns the differences of two traces as lines of text: for each exchange that differs, the request and the fields.
pub(crate) fn explain(case: &Case, left: &[Value], right: &[Value]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, request) in case.recorded().enumerate() {
        let differences = differences(left.get(index), right.get(index));
        if differences.is_empty() {
            continue;
        }
        lines.push(format!("  {}. {}", index + 1, request.line()));
        lines.extend(differences.iter().map(|difference| format!("     {difference}")));
    }
    lines
}

/// Returns the fields in which two values differ, each with both sides.
pub(crate) fn differences(left: Option<&Value>, right: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    compare("", left, right, &mut found);
    found
}

fn compare(path: &str, left: Option<&Value>, right: Option<&Value>, found: &mut Vec<String>) {
    match (left, right) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let more = other.keys().filter(|key| !one.contains_key(key));
            for key in one.keys().chain(more) {
                compare(&format!("{path}.{key}"), one.get(key), other.get(key), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                compare(&format!("{path}[{index}]"), one.get(index), other.get(index), found);
            }
        }
        (one, other) if one == other => {}
        (one, other) => {
            found.push(format!("{}: {} | {}", path.trim_start_matches('.'), shown(one), shown(other)));
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "(absent)".to_owned(), Value::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn each_field_that_differs_is_shown_with_both_sides() {
        let left = json!({"status": 422, "body": {"causes": [{"field": "a"}, {"field": "b"}], "code": 1}});
        let right = json!({"status": 201, "body": {"causes": [{"field": "a"}], "more": null, "code": 1}});
        let expected = [
            "body.causes[1]: {\"field\":\"b\"} | (absent)",
            "body.more: (absent) | null",
            "status: 422 | 201",
        ];
        assert_eq!(differences(Some(&left), Some(&right)), expected);
    }

    #[test]
    fn equal_values_have_no_differences_and_numbers_are_not_texts() {
        assert_eq!(differences(Some(&json!([1, {"a": []}])), Some(&json!([1, {"a": []}]))), [""; 0]);
        assert_eq!(differences(Some(&json!(1)), Some(&json!("1"))).len(), 1);
        assert_eq!(differences(Some(&json!({})), Some(&json!([]))).len(), 1);
    }
}
