//! Short names for sets and pods: `web-1` is the first set that the Deployment `web` ever had.

use std::collections::BTreeMap;

use gantry_decide::deployment::revision_of;
use gantry_model::{Name, Pod, ReplicaSet};

use crate::cluster::PlainCluster;

/// The sets in the order in which they first appeared.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Real name to index, counted from zero.
    indices: BTreeMap<Name, usize>,
}

impl Names {
    /// Gives every new set an index.
    pub(super) fn add_new(&mut self, cluster: &PlainCluster) {
        let mut new: Vec<_> =
            cluster.replica_sets().filter(|set| !self.indices.contains_key(&set.meta.name)).collect();
        new.sort_by_key(|set| (set.meta.created, revision_of(&set.meta.annotations), set.meta.name.clone()));
        for set in new {
            let index = self.indices.len();
            self.indices.insert(set.meta.name.clone(), index);
        }
    }

    /// The sets that exist, in order.
    pub(super) fn sets<'a>(&self, cluster: &'a PlainCluster) -> Vec<&'a ReplicaSet> {
        let mut sets: Vec<_> = cluster.replica_sets().collect();
        sets.sort_by_key(|set| self.index(&set.meta.name));
        sets
    }

    /// The pods that are not terminating, oldest set first.
    pub(super) fn pods<'a>(&self, cluster: &'a PlainCluster) -> Vec<&'a Pod> {
        let mut pods: Vec<_> = cluster.pods().filter(|pod| !pod.meta.is_deleting()).collect();
        pods.sort_by_key(|pod| {
            let owner = pod.meta.controller().map_or(usize::MAX, |owner| self.index(&owner.name));
            (owner, pod.meta.created, pod.meta.name.clone())
        });
        pods
    }

    pub(super) fn index(&self, set: &Name) -> usize {
        self.indices.get(set).copied().unwrap_or(usize::MAX)
    }

    /// Replaces real names in a text by what `rename` returns: the index for sets, and for pods of sets.
    pub(super) fn shorten(&self, text: &str, rename: impl Fn(usize) -> String) -> String {
        let mut longest_first: Vec<_> = self.indices.iter().collect();
        longest_first.sort_by_key(|(name, _)| std::cmp::Reverse(name.as_str().len()));
        longest_first
            .into_iter()
            .fold(text.to_owned(), |text, (name, index)| text.replace(name.as_str(), &rename(*index)))
    }
}
