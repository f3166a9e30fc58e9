//! What tells the two kinds of sets apart: their wire form and who tells their events.

use gantry_decide::replica_set::{EVENT_SOURCE, REPLICATION_EVENT_SOURCE};
use gantry_model::{ReplicaSet, ReplicaSetStatus, SetKind};
use gantry_runtime::informer::{CachedReplicaSet, CachedReplicationController, Typed};
use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;

/// A set of one of the two kinds, as the cache has it.
pub(super) trait CachedSet: Typed<Wire: Metadata<Ty = ObjectMeta> + Serialize + Clone + Sync> {
    /// Which of the two.
    const KIND: SetKind;
    /// Who tells its events.
    const EVENT_SOURCE: &'static str;

    /// As the rules see it.
    fn noun(&self) -> &ReplicaSet;
    /// As it came.
    fn wire(&self) -> &Self::Wire;
    /// Puts a status in.
    fn set_status(wire: &mut Self::Wire, status: &ReplicaSetStatus);
}

impl CachedSet for CachedReplicaSet {
    const KIND: SetKind = SetKind::ReplicaSet;
    const EVENT_SOURCE: &'static str = EVENT_SOURCE;

    fn noun(&self) -> &ReplicaSet {
        &self.noun
    }
    fn wire(&self) -> &Self::Wire {
        &self.wire
    }
    fn set_status(wire: &mut Self::Wire, status: &ReplicaSetStatus) {
        wire.status = Some(status.render());
    }
}

impl CachedSet for CachedReplicationController {
    const KIND: SetKind = SetKind::ReplicationController;
    const EVENT_SOURCE: &'static str = REPLICATION_EVENT_SOURCE;

    fn noun(&self) -> &ReplicaSet {
        &self.noun
    }
    fn wire(&self) -> &Self::Wire {
        &self.wire
    }
    fn set_status(wire: &mut Self::Wire, status: &ReplicaSetStatus) {
        wire.status = Some(status.render_replication_controller());
    }
}
