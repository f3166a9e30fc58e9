//! Objects that were written and that the caches do not show yet: the next sync starts from them, and so does not
//! conflict.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_model::Name;
use gantry_runtime::informer::{Cached, CachedDeployment, CachedReplicaSet};

use super::observe::SyncSnapshot;

/// The last written state of a Deployment and of its sets, as far as it is newer than that of the caches.
#[derive(Debug, Default)]
pub(super) struct LastWrites {
    deployment: Option<Arc<CachedDeployment>>,
    sets: BTreeMap<Name, Arc<CachedReplicaSet>>,
}

impl LastWrites {
    /// The objects of a snapshot that are newer than those of another one.
    pub(super) fn of(written: &SyncSnapshot, cached: &SyncSnapshot) -> Self {
        let is_newer_set = |(name, set): &(&Name, &Arc<CachedReplicaSet>)| {
            cached.sets.get(*name).is_some_and(|cached| is_newer(&***set, &**cached))
        };
        let sets = written.sets.iter().filter(is_newer_set);
        Self {
            deployment: is_newer(&*written.deployment, &*cached.deployment)
                .then(|| written.deployment.clone()),
            sets: sets.map(|(name, set)| (name.clone(), set.clone())).collect(),
        }
    }

    /// Replaces older objects of a snapshot, and drops those that the snapshot has reached.
    pub(super) fn update(&mut self, snapshot: &mut SyncSnapshot) {
        match &self.deployment {
            Some(written) if is_newer(&**written, &*snapshot.deployment) => {
                snapshot.deployment = written.clone();
            }
            _ => self.deployment = None,
        }
        self.sets.retain(|name, written| match snapshot.sets.get_mut(name) {
            Some(cached) if is_newer(&**written, &**cached) => {
                *cached = written.clone();
                true
            }
            _ => false,
        });
    }

    /// Whether the caches have reached everything.
    pub(super) fn is_empty(&self) -> bool {
        self.deployment.is_none() && self.sets.is_empty()
    }
}

/// Whether one state of an object is newer than another one.
fn is_newer<T: Cached>(one: &T, other: &T) -> bool {
    one.uid() == other.uid() && other.version().has_reached(one.version()) == Some(false)
}

#[cfg(test)]
mod tests {
    use gantry_runtime::ApiResponse;

    use super::*;

    fn response(version: &str) -> ApiResponse {
        let metadata =
            format!(r#"{{"name":"web","namespace":"shop","uid":"u","resourceVersion":"{version}"}}"#);
        let body = format!(r#"{{"metadata":{metadata},"spec":{{"selector":{{}},"template":{{}}}}}}"#);
        ApiResponse { code: 200, body: body.into(), is_protobuf: false, warnings: Vec::new() }
    }

    /// A Deployment of one version and its set of another one.
    fn snapshot(deployment: &str, set: &str) -> SyncSnapshot {
        let deployment = CachedDeployment::of_response(&response(deployment), None).unwrap();
        let set = CachedReplicaSet::of_response(&response(set), None).unwrap();
        let sets = [(Name::from("web"), Arc::new(set))].into();
        SyncSnapshot { deployment: Arc::new(deployment), sets, pods: Vec::new() }
    }

    fn versions(snapshot: &SyncSnapshot) -> [&str; 2] {
        [snapshot.deployment.version().as_str(), snapshot.sets[&Name::from("web")].version().as_str()]
    }

    #[test]
    fn a_sync_uses_the_last_writes_until_the_caches_show_them() {
        let mut written = LastWrites::of(&snapshot("9", "10"), &snapshot("8", "7"));
        let mut next = snapshot("8", "7");
        written.update(&mut next);
        assert_eq!(versions(&next), ["9", "10"]);
        let mut later = snapshot("11", "7");
        written.update(&mut later);
        assert_eq!(versions(&later), ["11", "10"], "another client has written the Deployment");
        written.update(&mut snapshot("11", "10"));
        assert!(written.is_empty());
        assert!(LastWrites::of(&snapshot("8", "7"), &snapshot("8", "7")).is_empty(), "nothing was written");
    }
}
