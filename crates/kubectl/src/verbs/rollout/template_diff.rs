//! The differences between two pod templates, one line per field.

use gantry_json::{SmolStr, Value};

use crate::field::shown;
use crate::print::compact;

/// One line for each field that differs: `containers[nginx].image: nginx:1 -> nginx:2`.
pub(super) fn changed(before: &Value, after: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", before, after, &mut lines);
    lines
}

fn compare(path: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let mut keys: Vec<&SmolStr> = old.keys().chain(new.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let (old, new) = (old.get(key).unwrap_or(&Value::Null), new.get(key).unwrap_or(&Value::Null));
                compare(&below(path, key), old, new, lines);
            }
        }
        (Value::Array(old), Value::Array(new)) if named(old) && named(new) => {
            let names = old.iter().chain(new).filter_map(name);
            let mut seen = Vec::new();
            for one in names {
                if seen.contains(&one) {
                    continue;
                }
                seen.push(one);
                let find = |list: &[Value]| list.iter().find(|element| name(element) == Some(one)).cloned();
                let path = format!("{path}[{one}]");
                compare(&path, &find(old).unwrap_or_default(), &find(new).unwrap_or_default(), lines);
            }
        }
        (Value::Null, new) => lines.push(format!("+ {path}: {}", value(new))),
        (old, Value::Null) => lines.push(format!("- {path}: {}", value(old))),
        (old, new) => lines.push(format!("~ {path}: {} -> {}", value(old), value(new))),
    }
}

/// Extends a path; `spec` and `metadata` of the template are omitted.
fn below(path: &str, key: &str) -> String {
    match path {
        "" | "spec" | "metadata" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

fn name(element: &Value) -> Option<&str> {
    element.get("name").and_then(Value::as_str)
}

fn named(list: &[Value]) -> bool {
    list.iter().all(|element| name(element).is_some())
}

fn value(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => compact(value),
        scalar => shown(scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// Issue 6: history shows what changed, not only numbers.
    #[test]
    fn changes_are_named_by_their_path() {
        let before = json!({"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1", "env": [{"name": "A", "value": "1"}]}]}});
        let after = json!({"metadata": {"labels": {"app": "web", "tier": "gold"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:2"}, {"name": "side", "image": "s"}]}});
        assert_eq!(
            changed(&before, &after),
            [
                "+ labels.tier: gold",
                "- containers[nginx].env: [{\"name\":\"A\",\"value\":\"1\"}]",
                "~ containers[nginx].image: nginx:1 -> nginx:2",
                "+ containers[side]: {\"image\":\"s\",\"name\":\"side\"}",
            ]
        );
    }
}
