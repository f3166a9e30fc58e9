//! Any object of which nothing special is known: every field under its name.

use serde_json::Value;

use super::marks::{annotations, labels};
use crate::field::{shown, text};

/// An object, its fields named in words.
pub(crate) fn object(object: &Value) -> String {
    let mut out = format!("Name:\t{}\n", text(object, "/metadata/name"));
    out += &format!("Namespace:\t{}\n", text(object, "/metadata/namespace"));
    out += &labels("Labels:", "", object, "/metadata/labels");
    out += &annotations("Annotations:", "", object, "/metadata/annotations");
    out += &format!("API Version:\t{}\nKind:\t{}\n", text(object, "/apiVersion"), text(object, "/kind"));
    let known = ["name", "namespace", "labels", "annotations", "managedFields"];
    for (key, value) in object.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("apiVersion" | "kind", _) => {}
            ("metadata", Value::Object(members)) => {
                let rest: serde_json::Map<_, _> = members
                    .iter()
                    .filter(|(key, _)| !known.contains(&key.as_str()))
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect();
                member("metadata", &rest.into(), 0, &mut out);
            }
            (key, value) => member(key, value, 0, &mut out),
        }
    }
    out
}

fn member(key: &str, value: &Value, level: usize, out: &mut String) {
    let indent = "  ".repeat(level);
    let title = in_words(key);
    match value {
        Value::Object(members) => {
            out.push_str(&format!("{indent}{title}:\n"));
            for (key, value) in members {
                member(key, value, level + 1, out);
            }
        }
        Value::Array(elements) => {
            out.push_str(&format!("{indent}{title}:\n"));
            for element in elements {
                match element {
                    Value::Object(members) => {
                        members.iter().for_each(|(key, value)| member(key, value, level + 1, out));
                    }
                    scalar => out.push_str(&format!("{indent}  {}\n", shown(scalar))),
                }
            }
        }
        scalar => out.push_str(&format!("{indent}{title}:\t{}\n", shown(scalar))),
    }
}

/// `creationTimestamp` as `Creation Timestamp`.
fn in_words(key: &str) -> String {
    let mut words = String::new();
    for (nth, letter) in key.chars().enumerate() {
        if nth == 0 {
            words.extend(letter.to_uppercase());
        } else {
            if letter.is_uppercase() && !words.ends_with(char::is_uppercase) {
                words.push(' ');
            }
            words.push(letter);
        }
    }
    words
}
