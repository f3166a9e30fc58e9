//! Short names for sets and pods: `web-1` is the first set that the Deployment `web` ever had.

use std::collections::BTreeMap;

use gantry_decide::deployment::revision_of;
use gantry_model::{Name, Pod, ReplicaSet};

use crate::cluster::Cluster;

/// The sets in the order in which they first appeared.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Real name to its place, counted from zero.
    places: BTreeMap<Name, usize>,
}

impl Names {
    /// Gives every new set its place.
    pub(super) fn notice(&mut self, cluster: &Cluster) {
        let mut new: Vec<_> =
            cluster.replica_sets().filter(|set| !self.places.contains_key(&set.meta.name)).collect();
        new.sort_by_key(|set| (set.meta.created, revision_of(&set.meta.annotations), set.meta.name.clone()));
        for set in new {
            let place = self.places.len();
            self.places.insert(set.meta.name.clone(), place);
        }
    }

    /// The sets that exist, in order.
    pub(super) fn sets<'a>(&self, cluster: &'a Cluster) -> Vec<&'a ReplicaSet> {
        let mut sets: Vec<_> = cluster.replica_sets().collect();
        sets.sort_by_key(|set| self.place(&set.meta.name));
        sets
    }

    /// The pods that are not on their way out, oldest set first.
    pub(super) fn pods<'a>(&self, cluster: &'a Cluster) -> Vec<&'a Pod> {
        let mut pods: Vec<_> = cluster.pods().filter(|pod| !pod.meta.is_deleting()).collect();
        pods.sort_by_key(|pod| {
            let owner = pod.meta.controller().map_or(usize::MAX, |owner| self.place(&owner.name));
            (owner, pod.meta.created, pod.meta.name.clone())
        });
        pods
    }

    pub(super) fn place(&self, set: &Name) -> usize {
        self.places.get(set).copied().unwrap_or(usize::MAX)
    }

    /// Replaces real names in a text by what `rename` makes of them: the place for sets, and for pods of sets.
    pub(super) fn shorten(&self, text: &str, rename: impl Fn(usize) -> String) -> String {
        let mut longest_first: Vec<_> = self.places.iter().collect();
        longest_first.sort_by_key(|(name, _)| std::cmp::Reverse(name.as_str().len()));
        longest_first
            .into_iter()
            .fold(text.to_owned(), |text, (name, place)| text.replace(name.as_str(), &rename(*place)))
    }
}
