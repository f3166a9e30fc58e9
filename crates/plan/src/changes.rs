//! Summarizes the difference between two versions of a Deployment.

use gantry_json::Value;

/// The maximum number of differences that are listed.
const LISTED_MAX: usize = 8;

/// Returns the differences of the specs, such as `image nginx:1 -> nginx:2` and `replicas 3 -> 5`; `None` before means that
/// the Deployment is created.
pub fn changes(before: Option<&Value>, after: &Value) -> Vec<String> {
    let Some(before) = before else { return vec!["created".to_owned()] };
    let mut changes = Vec::new();
    differences("", &before["spec"], &after["spec"], &mut changes);
    let more = changes.len().saturating_sub(LISTED_MAX);
    changes.truncate(LISTED_MAX);
    if more > 0 {
        changes.push(format!("and {more} more"));
    }
    changes
}

fn differences(path: &str, before: &Value, after: &Value, changes: &mut Vec<String>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Value::Object(one), Value::Object(other)) => {
            let added =
                other.iter().filter(|(name, _)| !one.contains_key(name.as_str())).map(|(name, _)| name);
            for name in one.iter().map(|(name, _)| name).chain(added) {
                let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                differences(&path, &before[name.as_str()], &after[name.as_str()], changes);
            }
        }
        (Value::Array(one), Value::Array(other)) if names(one) == names(other) && names(one).is_some() => {
            for (before, after) in one.iter().zip(other) {
                let name = before["name"].as_str().unwrap_or_default();
                differences(&format!("{path}[{name}]"), before, after, changes);
            }
        }
        _ => changes.push(change(path, before, after)),
    }
}

/// The names of the items, if all have one.
fn names(items: &[Value]) -> Option<Vec<&str>> {
    items.iter().map(|item| item["name"].as_str()).collect()
}

fn change(path: &str, before: &Value, after: &Value) -> String {
    let path = path.strip_prefix("template.spec.").unwrap_or(path);
    let path = if path.starts_with("containers[") && path.ends_with("].image") { "image" } else { path };
    match (shown(before), shown(after)) {
        (Some(before), Some(after)) => format!("{path} {before} -> {after}"),
        (None, Some(after)) if before.is_null() => format!("{path} {after} added"),
        (Some(before), None) if after.is_null() => format!("{path} {before} removed"),
        _ => format!("{path} changed"),
    }
}

/// A scalar as text.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn deployment(replicas: u32, container: &Value) -> Value {
        json!({"spec": {"replicas": replicas, "template": {"spec": {"containers": [container]}}}})
    }

    #[test]
    fn images_and_sizes_are_shown_before_and_after() {
        let before = deployment(3, &json!({"name": "web", "image": "nginx:1"}));
        let after = deployment(5, &json!({"name": "web", "image": "nginx:2", "command": ["sh"]}));
        let all = changes(Some(&before), &after);
        assert_eq!(all, ["replicas 3 -> 5", "image nginx:1 -> nginx:2", "containers[web].command changed"]);
        assert_eq!(changes(Some(&after), &after), [""; 0]);
        assert_eq!(changes(None, &after), ["created"]);
    }

    #[test]
    fn fields_are_added_and_removed() {
        let with = json!({"spec": {"paused": true}});
        let without = json!({"spec": {}});
        assert_eq!(changes(Some(&without), &with), ["paused true added"]);
        assert_eq!(changes(Some(&with), &without), ["paused true removed"]);
    }
}
