//! What is watched: everything that can be deleted, listed and watched, as discovery has it now.
//!
//! Collecting does not depend on the watches being complete: they only say what to look at, and whatever is deleted
//! was read live first. So a watch that never gets going delays nobody for longer than [`INITIAL_SYNC_MAX`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Resource;

/// How often discovery is asked again.
pub const DISCOVERY_REFRESH: Duration = Duration::from_secs(30);

/// How long the first attempt waits for the watches to deliver their first lists.
pub const INITIAL_SYNC_MAX: Duration = Duration::from_secs(30);

/// What a resource must be able to do for its objects to be collected.
const VERBS_NEEDED: [&str; 3] = ["delete", "list", "watch"];

/// Group and plural of resources whose objects are never collected: they come by the thousand and expire by themselves.
const IGNORED: [(&str, &str); 2] = [("", "events"), ("events.k8s.io", "events")];

/// The result of one pass of discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// What is served, in every version.
    pub offers: Vec<Offer>,
    /// Groups that could not be asked.
    pub failed_groups: BTreeSet<String>,
}

/// A resource that is served in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The resource.
    pub resource: Resource,
    /// What can be done with it.
    pub verbs: BTreeSet<String>,
    /// Whether the group recommends this version.
    pub standing: Standing,
}

/// How a group thinks of one of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The version to use.
    Preferred,
    /// Served as well.
    Other,
}

/// How far a watch has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Its first list has not arrived.
    Pending,
    /// It follows the server.
    Synced,
}

/// The watches there are.
pub type Watches = BTreeMap<Resource, Sync>;

/// What to do about the watches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchPlan {
    /// Go on as they are.
    pub keep: BTreeSet<Resource>,
    /// Begin.
    pub start: BTreeSet<Resource>,
    /// End.
    pub stop: BTreeSet<Resource>,
}

/// Whether collecting may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Watches are still catching up.
    Wait,
    /// Every watch has caught up.
    Synced,
    /// So many watches have not caught up, and were waited for long enough.
    Anyway {
        /// How many.
        pending: usize,
    },
}

/// Plans the watches from what is served now.
///
/// A pass that found nothing to watch is taken for a failed one: it changes nothing. In groups that could not be
/// asked, watches that work are kept and those that never did are not.
pub fn plan(present: &Watches, discovery: &Discovery) -> WatchPlan {
    let mut wanted = collectable(discovery);
    if wanted.is_empty() {
        return WatchPlan { keep: present.keys().cloned().collect(), ..WatchPlan::default() };
    }
    for (resource, sync) in present {
        if *sync == Sync::Synced && discovery.failed_groups.contains(resource.group()) {
            wanted.insert(resource.clone());
        }
    }
    let present = present.keys().cloned().collect();
    WatchPlan { keep: &wanted & &present, start: &wanted - &present, stop: &present - &wanted }
}

/// Decides whether to collect after so much waiting for the first lists.
pub fn start(watches: &Watches, waited: Duration) -> Start {
    match watches.values().filter(|sync| **sync == Sync::Pending).count() {
        0 => Start::Synced,
        pending if waited >= INITIAL_SYNC_MAX => Start::Anyway { pending },
        _ => Start::Wait,
    }
}

/// What of the offers is worth a watch, each resource in one version.
fn collectable(discovery: &Discovery) -> BTreeSet<Resource> {
    let mut chosen: BTreeMap<(&str, &str), &Offer> = BTreeMap::new();
    for offer in &discovery.offers {
        let resource = (offer.resource.group(), offer.resource.plural.as_str());
        // A resource that the preferred version lacks is taken in the version that comes first.
        if offer.standing == Standing::Preferred || !chosen.contains_key(&resource) {
            chosen.insert(resource, offer);
        }
    }
    chosen
        .into_iter()
        .filter(|(resource, offer)| !IGNORED.contains(resource) && offer.can_be_collected())
        .map(|(_, offer)| offer.resource.clone())
        .collect()
}

impl Offer {
    fn can_be_collected(&self) -> bool {
        VERBS_NEEDED.iter().all(|verb| self.verbs.contains(*verb))
    }
}
