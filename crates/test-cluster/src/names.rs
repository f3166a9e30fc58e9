//! Names that are the same on every run: `set0` is the first ReplicaSet that was seen, `set0-POD` a pod of it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gantry_json::Value;

/// How many characters the server adds to a generated name.
const SUFFIX: usize = 5;

/// The sets that were seen, by name, with their index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    indices: BTreeMap<String, usize>,
}

impl Names {
    /// Gives every new set an index.
    pub(crate) fn add_new(&mut self, sets: &[Value]) {
        let name = |set: &Value| set["metadata"]["name"].as_str().unwrap().to_owned();
        let mut new: Vec<_> = sets.iter().filter(|set| !self.indices.contains_key(&name(set))).collect();
        new.sort_by_key(|set| {
            (set["metadata"]["creationTimestamp"].as_str().unwrap().to_owned(), revision(set), name(set))
        });
        for set in new {
            let index = self.indices.len();
            self.indices.insert(name(set), index);
        }
    }

    /// The index of a set; after all others when it was never seen.
    pub(crate) fn index(&self, set: &str) -> usize {
        self.indices.get(set).copied().unwrap_or(usize::MAX)
    }

    /// The text with masked names.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut longest_first: Vec<_> = self.indices.iter().collect();
        longest_first.sort_by_key(|(name, _)| Reverse(name.len()));
        longest_first.into_iter().fold(text.to_owned(), |text, (name, index)| masked(&text, name, *index))
    }
}

/// The revision annotation of an object.
pub(crate) fn revision(object: &Value) -> u64 {
    let written = object["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str();
    written.and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

fn masked(text: &str, name: &str, index: usize) -> String {
    let mut parts = text.split(name);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        masked.push_str("set");
        masked.push_str(&index.to_string());
        match after_suffix(rest) {
            Some(rest) => {
                masked.push_str("-POD");
                masked.push_str(rest);
            }
            None => masked.push_str(rest),
        }
    }
    masked
}

/// Returns the text after the suffix of a pod's name, if it begins with one.
fn after_suffix(text: &str) -> Option<&str> {
    let (suffix, rest) = text.strip_prefix('-')?.split_at_checked(SUFFIX)?;
    let is_suffix = suffix.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_end = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    (is_suffix && is_end).then_some(rest)
}
