//! The changes that enqueue a token: its own; and those that enqueue the ConfigMap: its own and those of every token.

use gantry_model::{Name, ObjectKey};
use gantry_runtime::Queue;
use gantry_runtime::informer::Cached as _;

use super::observe::{CLUSTER_INFO, Caches, ClusterInfo};

pub(super) fn each_token(caches: &Caches, queue: &Queue<ObjectKey>) {
    let to = queue.clone();
    caches.secrets.subscribe(move |change| to.add(change.object().key()));
}

pub(super) fn cluster_info(caches: &Caches, info: &ClusterInfo, queue: &Queue<Name>) {
    let to = queue.clone();
    caches.secrets.subscribe(move |_| to.add(CLUSTER_INFO.1.into()));
    let to = queue.clone();
    info.maps.subscribe(move |_| to.add(CLUSTER_INFO.1.into()));
}
