//! The order of the keys of maps in a request.
//!
//! Kubernetes reports errors about the entries of a map in iteration order, which for the small maps of Go is mostly
//! the order of insertion. For a JSON body that is the order of the document; for other formats keys are sorted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gantry_json::SmolStr;

use super::json;
use super::tree::{SHALLOW, Tree};

/// The keys of maps that were not sent in alphabetical order, by the path of the map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOrder {
    by_place: BTreeMap<String, Vec<SmolStr>>,
    /// The size of these paths.
    place_bytes: usize,
}

/// Maps with more keys than these have no predictable order in Go.
const SMALL: usize = 8;

/// The size of these paths after which no more are kept: many maps below a long key would take much memory.
const PLACE_BYTES_MAX: usize = 4 << 20;

impl KeyOrder {
    /// The order in a JSON body; empty if it is invalid.
    pub fn of_json(body: &[u8]) -> Self {
        let mut order = Self::default();
        if let Ok(document) = json::read(body) {
            order.collect(&document.root, &mut String::new(), SHALLOW);
        }
        order
    }

    /// Whether all maps were sent in the alphabetical order of their keys.
    pub fn is_alphabetical(&self) -> bool {
        self.by_place.is_empty()
    }

    /// Sorts the entries of the map at this path in the order in which they were sent; added entries are last.
    pub fn sort<T>(&self, place: &str, members: &mut [(&SmolStr, T)]) {
        if let Some(keys) = self.by_place.get(place) {
            members.sort_by_key(|(key, _)| keys.iter().position(|sent| sent == *key).unwrap_or(keys.len()));
        }
    }

    /// Adds the maps in a tree at this path, which is restored afterwards. Below `levels` all fields are unknown.
    fn collect(&mut self, tree: &Tree, place: &mut String, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else { return };
        let length = place.len();
        match tree {
            Tree::Object(members) => {
                for (key, member) in members {
                    let dot = if length == 0 { "" } else { "." };
                    place.extend([dot, key]);
                    self.collect(member, place, levels);
                    place.truncate(length);
                }
                let keys: Vec<_> = members.iter().map(|(key, _)| key.clone()).collect();
                if keys.len() <= SMALL && !keys.is_sorted() && self.place_bytes <= PLACE_BYTES_MAX {
                    self.place_bytes += length;
                    self.by_place.insert(place.clone(), keys);
                }
            }
            Tree::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let _ = write!(place, "[{index}]");
                    self.collect(element, place, levels);
                    place.truncate(length);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_as_they_were_sent() {
        let body =
            br#"{"spec": [{"labels": {"b": "", "a": ""}}], "metadata": {"labels": {"a": "", "b": ""}}}"#;
        let order = KeyOrder::of_json(body);
        let sorted = |place: &str| {
            let keys = ["a", "added", "b"].map(SmolStr::from);
            let mut members: Vec<_> = keys.iter().map(|key| (key, ())).collect();
            order.sort(place, &mut members);
            members.iter().map(|(key, ())| key.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(sorted("spec[0].labels"), "b a added");
        assert_eq!(sorted("metadata.labels"), "a added b");
        assert!(KeyOrder::of_json(br#"{"a": {"a": 1, "b": 1}}"#).is_alphabetical());
        assert!(KeyOrder::of_json(b"nonsense").is_alphabetical());
    }

    /// Unknown fields may be nested as deeply as JSON; in an invalid object they once overflowed the stack.
    #[test]
    fn a_deep_document_has_an_order() {
        let nested = format!("{}{{}}{}", r#"{"b":"#.repeat(9_990), "}".repeat(9_990));
        let order = KeyOrder::of_json(format!(r#"{{"b": {nested}, "a": 1}}"#).as_bytes());
        assert!(!order.is_alphabetical());
    }
}
