//! The differences between ReplicaSets and ReplicationControllers: wire type and event source.

use gantry_decide::replica_set::{EVENT_SOURCE, REPLICATION_EVENT_SOURCE};
use gantry_model::{ReplicaSet, ReplicaSetStatus, SetKind};
use gantry_runtime::informer::{CachedReplicaSet, CachedReplicationController, Typed};
use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;

/// A cached ReplicaSet or ReplicationController.
pub(super) trait CachedSet: Typed<Wire: Metadata<Ty = ObjectMeta> + Serialize + Clone + Sync> {
    const KIND: SetKind;
    /// The `source.component` of its events.
    const EVENT_SOURCE: &'static str;

    /// The parsed object.
    fn noun(&self) -> &ReplicaSet;
    /// The wire object.
    fn wire(&self) -> &Self::Wire;
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
