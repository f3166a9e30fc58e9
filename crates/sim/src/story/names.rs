//! Short names for sets: `web-1` is the first set that the Deployment `web` ever had.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gantry_json::Value;

use super::object::{creation, name, revision};

/// The sets in the order in which they first appeared.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Real name to index, counted from zero.
    indices: BTreeMap<String, usize>,
}

impl Names {
    /// Gives every new set an index.
    pub(super) fn add_new(&mut self, sets: &[Value]) {
        let mut new: Vec<_> = sets.iter().filter(|set| !self.indices.contains_key(name(set))).collect();
        new.sort_by_key(|set| (creation(set), revision(set), name(set)));
        for set in new {
            let index = self.indices.len();
            self.indices.insert(name(set).to_owned(), index);
        }
    }

    /// The index of a set; after all others if it was never seen.
    pub(super) fn index(&self, set: &str) -> usize {
        self.indices.get(set).copied().unwrap_or(usize::MAX)
    }

    /// Replaces real names in a text by what `rename` returns for their index.
    pub(super) fn shorten(&self, text: &str, rename: impl Fn(usize) -> String) -> String {
        let mut longest_first: Vec<_> = self.indices.iter().collect();
        longest_first.sort_by_key(|(name, _)| Reverse(name.len()));
        longest_first
            .into_iter()
            .fold(text.to_owned(), |text, (name, index)| text.replace(name.as_str(), &rename(*index)))
    }
}
