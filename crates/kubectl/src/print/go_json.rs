//! JSON as Go writes it: members sorted, and `<`, `>` and `&` escaped.

use gantry_json::Value;
use gantry_schema::encode;

/// JSON in one line.
pub(crate) fn compact(value: &Value) -> String {
    String::from_utf8_lossy(&encode::plain(value)).into_owned()
}

/// JSON with a member per line, indented by four spaces per level, without a newline at the end.
pub(crate) fn indented(value: &Value) -> String {
    let laid_out = encode::pretty(compact(value).as_bytes());
    let laid_out = String::from_utf8_lossy(&laid_out);
    let deeper = laid_out.lines().map(|line| {
        // JSON strings contain no newlines, so leading spaces are always indentation.
        let level = line.len() - line.trim_start_matches(' ').len();
        format!("{}{line}", " ".repeat(level))
    });
    deeper.collect::<Vec<_>>().join("\n")
}

/// The members of objects that kubectl itself creates, in the order in which their types declare them.
const DECLARED: [&str; 16] = [
    "kind",
    "apiVersion",
    "metadata",
    "name",
    "namespace",
    "labels",
    "spec",
    "replicas",
    "selector",
    "template",
    "strategy",
    "image",
    "command",
    "ports",
    "resources",
    "status",
];

/// As `indented`, for an object that kubectl itself created: its members are not sorted.
pub(crate) fn indented_as_declared(value: &Value) -> String {
    let deeper = |text: String| text.replace('\n', "\n    ");
    match value {
        Value::Object(members) if !members.is_empty() => {
            let mut members: Vec<_> = members.iter().collect();
            let place = |key: &str| DECLARED.iter().position(|one| *one == key).unwrap_or(DECLARED.len());
            members.sort_by_key(|(key, _)| (place(key), *key));
            let members = members.into_iter().map(|(key, value)| {
                format!("\n    {}: {}", Value::from(key.as_str()), deeper(indented_as_declared(value)))
            });
            format!("{{{}\n}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) if !elements.is_empty() => {
            let elements = elements.iter().map(|one| format!("\n    {}", deeper(indented_as_declared(one))));
            format!("[{}\n]", elements.collect::<Vec<_>>().join(","))
        }
        other => compact(other),
    }
}

/// A list of results, with its members in the order in which its type declares them.
pub(crate) fn json_list(objects: &[Value]) -> String {
    let items = indented(&Value::Array(objects.to_vec())).replace('\n', "\n    ");
    format!(
        "{{\n    \"kind\": \"List\",\n    \"apiVersion\": \"v1\",\n    \"metadata\": {{}},\n    \"items\": {items}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K1.2: the last applied configuration is kept in this form.
    #[test]
    fn json_is_sorted_and_escaped() {
        let value = json!({"b": "<&>", "a": [1, {}]});
        assert_eq!(compact(&value), r#"{"a":[1,{}],"b":"\u003c\u0026\u003e"}"#);
        assert_eq!(
            indented(&value),
            "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": \"\\u003c\\u0026\\u003e\"\n}"
        );
    }
}
