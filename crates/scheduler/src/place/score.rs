//! The best of the nodes that take a pod.
//!
//! Four scores from 0 to 100 each, weighed as kube-scheduler weighs theirs: what the node dislikes and how far apart the
//! replicas are count most, then the pod's preferences, then the room that is left.

use super::Pod;
use super::cluster::Site;
use super::resources::{CPU, MEMORY};

const FULL: i64 = 100;
const WEIGHT_TAINTS: i64 = 3;
const WEIGHT_SPREAD: i64 = 3;
const WEIGHT_PREFERENCE: i64 = 2;
const WEIGHT_ROOM: i64 = 1;

/// What speaks for a node, before nodes are compared.
struct Raw<'a> {
    site: &'a Site,
    disliked: i64,
    replicas: i64,
    preference: i64,
    room: i64,
}

/// The best site; the first by name among equals.
pub(super) fn best<'a>(pod: &Pod, sites: &[&'a Site]) -> Option<&'a Site> {
    if let [only] = sites {
        return Some(only);
    }
    let raw: Vec<_> = sites.iter().map(|site| Raw::new(pod, site)).collect();
    let most = |of: fn(&Raw) -> i64| raw.iter().map(of).max().unwrap_or(0);
    let (disliked, replicas) = (most(|raw| raw.disliked), most(|raw| raw.replicas));
    let preference = most(|raw| raw.preference);
    let score = |raw: &Raw| {
        WEIGHT_TAINTS * (FULL - share(raw.disliked, disliked))
            + WEIGHT_SPREAD * (FULL - share(raw.replicas, replicas))
            + WEIGHT_PREFERENCE * share(raw.preference, preference)
            + WEIGHT_ROOM * raw.room
    };
    let mut best: Option<(i64, &Site)> = None;
    for candidate in &raw {
        let score = score(candidate);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, candidate.site));
        }
    }
    best.map(|(_, site)| site)
}

impl<'a> Raw<'a> {
    fn new(pod: &Pod, site: &'a Site) -> Self {
        let soft = site.node.taints.iter().filter(|taint| !taint.is_hard());
        let disliked = soft.filter(|taint| !taint.is_tolerated(&pod.tolerations)).count();
        let controller = pod.controller.as_ref();
        Self {
            site,
            disliked: i64::try_from(disliked).unwrap_or(i64::MAX),
            replicas: controller.and_then(|uid| site.taken.replicas.get(uid)).copied().unwrap_or(0),
            preference: pod.wishes.preference(&site.node),
            room: room(pod, site),
        }
    }
}

/// How much of the node would be left free, the mean of cores and memory.
fn room(pod: &Pod, site: &Site) -> i64 {
    let offered = &site.node.allocatable;
    let free = |offered: i128, taken: i128| {
        if offered <= 0 {
            return 0;
        }
        let free = offered.saturating_sub(taken).max(0);
        i64::try_from(free.saturating_mul(FULL.into()) / offered).unwrap_or(FULL)
    };
    let cpu = free(offered.of(CPU), site.taken.cpu_weighed.saturating_add(pod.demand.cpu_weighed));
    let memory =
        free(offered.of(MEMORY), site.taken.memory_weighed.saturating_add(pod.demand.memory_weighed));
    i64::midpoint(cpu, memory)
}

/// A part of the most there is, from 0 to 100.
fn share(part: i64, most: i64) -> i64 {
    if most <= 0 { 0 } else { part.saturating_mul(FULL) / most }
}
