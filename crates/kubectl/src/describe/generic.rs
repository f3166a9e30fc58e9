//! Any object of a kind without its own description: every field under its name.

use gantry_json::Value;

use super::heading;
use crate::field::members;
use crate::print::jsonpath::as_go_prints;

/// Words that are written in capitals.
const ACRONYMS: [&str; 4] = ["API", "URL", "UID", "GUID"];

/// An object; the names of its fields are split into words and sorted.
pub(crate) fn object(object: &Value) -> String {
    let mut out = heading(object);
    let shown_above = ["name", "namespace", "labels", "annotations", "managedFields"];
    for (key, value) in members(object, "") {
        match (key, value) {
            ("metadata", Value::Object(all)) => {
                let rest = all.iter().filter(|(key, _)| !shown_above.contains(&key.as_str()));
                let rest: gantry_json::Map = rest.map(|(k, v)| (k.clone(), v.clone())).collect();
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
        Value::Object(_) => {
            out.push_str(&format!("{indent}{title}:\n"));
            for (key, value) in members(value, "") {
                member(key, value, level + 1, out);
            }
        }
        Value::Array(elements) => {
            out.push_str(&format!("{indent}{title}:\n"));
            for element in elements {
                match element {
                    Value::Object(_) => {
                        for (key, value) in members(element, "") {
                            member(key, value, level + 1, out);
                        }
                    }
                    scalar => out.push_str(&format!("{indent}  {}\n", as_go_prints(scalar))),
                }
            }
        }
        scalar => out.push_str(&format!("{indent}{title}:\t{}\n", as_go_prints(scalar))),
    }
}

/// `creationTimestamp` as `Creation Timestamp`. Keys with other characters than letters and `-` stay as they are.
fn in_words(key: &str) -> String {
    if !key.chars().all(|letter| letter.is_alphabetic() || letter == '-') {
        return key.to_owned();
    }
    let mut words = words(key);
    // Capitals are joined with the word that follows: `CIDRs`.
    for nth in (1..words.len()).rev() {
        let (before, word) = (&words[nth - 1], &words[nth]);
        let are_capitals = before.len() > 1 && !before.contains(char::is_lowercase) && before != "-";
        if are_capitals && word.starts_with(char::is_uppercase) {
            let word = words.remove(nth);
            words[nth - 1].push_str(&word);
        }
    }
    words.iter().map(|word| titled(word)).collect::<Vec<_>>().join(" ")
}

/// The words of a name in camel case; each run of other characters is a word.
fn words(key: &str) -> Vec<String> {
    let class = |letter: char| (letter.is_lowercase(), letter.is_uppercase());
    let mut words: Vec<String> = Vec::new();
    for letter in key.chars() {
        match words.last_mut() {
            Some(word) if word.ends_with(|last: char| class(last) == class(letter)) => word.push(letter),
            // The last of several capitals begins the word that follows.
            Some(word) if letter.is_lowercase() && word.ends_with(char::is_uppercase) => {
                let capital = word.pop().unwrap_or_default();
                if word.is_empty() {
                    words.pop();
                }
                words.push(format!("{capital}{letter}"));
            }
            _ => words.push(letter.to_string()),
        }
    }
    words
}

fn titled(word: &str) -> String {
    let capitals = word.to_uppercase();
    let mut letters = word.chars();
    match letters.next() {
        _ if ACRONYMS.contains(&capitals.as_str()) => capitals,
        Some(first) if !word.contains(char::is_uppercase) => first.to_uppercase().chain(letters).collect(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3: as kubectl titles the fields of a kind that it does not know.
    #[test]
    fn fields_are_titled_in_words() {
        let titles = [
            ("creationTimestamp", "Creation Timestamp"),
            ("uid", "UID"),
            ("apiVersion", "API Version"),
            ("selfURL", "Self URL"),
            ("podCIDRs", "Pod CIDRs"),
            ("x-kubernetes-list-type", "X - Kubernetes - List - Type"),
            ("openAPIV3Schema", "openAPIV3Schema"),
            ("app.io/name", "app.io/name"),
            ("A", "A"),
        ];
        for (key, title) in titles {
            assert_eq!(in_words(key), title);
        }
    }

    /// K3: lists in lists are shown in a line, as in kubectl.
    #[test]
    fn lists_of_lists_are_shown_in_a_line() {
        let object = json!({"spec": {"none": null, "grid": [[1, 2.5], ["a", {"b": true}]], "much": 1e30}});
        let rendered = super::object(&object);
        let spec = rendered.split_once("Spec:\n").unwrap().1;
        assert_eq!(spec, "  Grid:\n    [1 2.5]\n    [a map[b:true]]\n  Much:\t1e+30\n  None:\t<nil>\n");
    }
}
