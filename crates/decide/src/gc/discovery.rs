//! Which resources are watched: all that can be deleted, listed and watched, according to discovery.
//!
//! Collecting does not need complete watches: they only say what to check, and every object is read live before it is
//! deleted. So a watch that never syncs delays collecting by at most [`INITIAL_SYNC_MAX`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Resource;

/// The period of discovery.
pub const DISCOVERY_REFRESH: Duration = Duration::from_secs(30);

/// How long the first attempt waits for the initial lists of the watches.
pub const INITIAL_SYNC_MAX: Duration = Duration::from_secs(30);

/// How long orphaning waits for the initial list of a watch, from its start. Kubernetes does not wait, see docs/compat.md.
pub const ORPHANING_SYNC_MAX: Duration = Duration::from_secs(600);

/// The verbs that a resource needs for its objects to be collected.
const VERBS_NEEDED: [&str; 3] = ["delete", "list", "watch"];

/// Group and plural of resources whose objects are never collected: there are many, and they expire.
const IGNORED: [(&str, &str); 2] = [("", "events"), ("events.k8s.io", "events")];

/// The result of one pass of discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// The served resources, in every version.
    pub resources: Vec<ServedResource>,
    /// Groups whose discovery failed.
    pub failed_groups: BTreeSet<String>,
}

/// A resource that is served in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedResource {
    /// The resource.
    pub resource: Resource,
    /// The supported verbs.
    pub verbs: BTreeSet<String>,
    /// Whether this is the group's preferred version.
    pub preference: VersionPreference,
}

/// Whether a version is the preferred one of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionPreference {
    /// The preferred version.
    Preferred,
    /// Another served version.
    Other,
}

/// Whether a watch has its initial list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Its initial list has not arrived.
    Pending,
    /// It follows the server.
    Synced,
}

/// The current watches.
pub type Watches = BTreeMap<Resource, Sync>;

/// The changes to the watches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorPlan {
    /// Watches to keep.
    pub keep: BTreeSet<Resource>,
    /// Watches to start.
    pub start: BTreeSet<Resource>,
    /// Watches to stop.
    pub stop: BTreeSet<Resource>,
}

/// Whether collecting may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Watches are still syncing.
    Wait,
    /// Every watch has synced.
    Synced,
    /// Some watches have not synced within the time limit.
    Anyway {
        /// How many.
        pending: usize,
    },
}

/// Plans the watches for the resources that are served now.
///
/// A pass that found nothing to watch counts as failed and changes nothing. In groups whose discovery failed, synced
/// watches are kept and others are not.
pub fn plan(present: &Watches, discovery: &Discovery) -> MonitorPlan {
    let mut wanted = collectable(discovery);
    if wanted.is_empty() {
        return MonitorPlan { keep: present.keys().cloned().collect(), ..MonitorPlan::default() };
    }
    for (resource, sync) in present {
        if *sync == Sync::Synced && discovery.failed_groups.contains(resource.group()) {
            wanted.insert(resource.clone());
        }
    }
    let present = present.keys().cloned().collect();
    MonitorPlan { keep: &wanted & &present, start: &wanted - &present, stop: &present - &wanted }
}

/// Decides whether to collect after waiting so long for the initial lists.
pub fn start(watches: &Watches, waited: Duration) -> Start {
    match watches.values().filter(|sync| **sync == Sync::Pending).count() {
        0 => Start::Synced,
        pending if waited >= INITIAL_SYNC_MAX => Start::Anyway { pending },
        _ => Start::Wait,
    }
}

/// Whether dependents may be orphaned when the watch of their kind, started so long ago, has this state.
///
/// A dependent that is not in the graph keeps its reference, and is collected when its owner is gone. So orphaning waits for
/// the initial lists, and for so long that only kinds whose list always fails are given up.
pub fn may_orphan(sync: Sync, since_start: Duration) -> bool {
    sync == Sync::Synced || since_start >= ORPHANING_SYNC_MAX
}

/// The resources to watch, each in one version.
fn collectable(discovery: &Discovery) -> BTreeSet<Resource> {
    let mut chosen: BTreeMap<(&str, &str), &ServedResource> = BTreeMap::new();
    for offer in &discovery.resources {
        let resource = (offer.resource.group(), offer.resource.plural.as_str());
        // A resource that the preferred version lacks is watched in the version that is listed first.
        if offer.preference == VersionPreference::Preferred || !chosen.contains_key(&resource) {
            chosen.insert(resource, offer);
        }
    }
    chosen
        .into_iter()
        .filter(|(resource, offer)| !IGNORED.contains(resource) && offer.can_be_collected())
        .map(|(_, offer)| offer.resource.clone())
        .collect()
}

impl ServedResource {
    fn can_be_collected(&self) -> bool {
        VERBS_NEEDED.iter().all(|verb| self.verbs.contains(*verb))
    }
}
