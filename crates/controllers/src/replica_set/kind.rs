//! The differences between ReplicaSets and ReplicationControllers: wire type and event source.

use gantry_decide::replica_set::{EVENT_SOURCE, REPLICATION_EVENT_SOURCE};
use gantry_model::{ReplicaSet, ReplicaSetStatus, SetKind};
use gantry_runtime::informer::{CachedReplicaSet, CachedReplicationController, Typed};
use gantry_runtime::{Encode as _, RequestBody};
use k8s_openapi::Metadata;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// A cached ReplicaSet or ReplicationController.
pub(super) trait CachedSet: Typed<Wire: Metadata<Ty = ObjectMeta>> {
    const KIND: SetKind;
    /// The `source.component` of its events.
    const EVENT_SOURCE: &'static str;

    /// The parsed object.
    fn parsed(&self) -> &ReplicaSet;
    /// The body of an update of the status.
    fn with_status(&self, status: &ReplicaSetStatus) -> Result<RequestBody, String>;
}

impl CachedSet for CachedReplicaSet {
    const KIND: SetKind = SetKind::ReplicaSet;
    const EVENT_SOURCE: &'static str = EVENT_SOURCE;

    fn parsed(&self) -> &ReplicaSet {
        &self.parsed
    }
    fn with_status(&self, status: &ReplicaSetStatus) -> Result<RequestBody, String> {
        self.with_status(status).map_err(|error| error.to_string())
    }
}

impl CachedSet for CachedReplicationController {
    const KIND: SetKind = SetKind::ReplicationController;
    const EVENT_SOURCE: &'static str = REPLICATION_EVENT_SOURCE;

    fn parsed(&self) -> &ReplicaSet {
        &self.parsed
    }
    fn with_status(&self, status: &ReplicaSetStatus) -> Result<RequestBody, String> {
        let mut wire = core::ReplicationController::clone(&self.wire);
        wire.status = Some(status.render_replication_controller());
        wire.to_body().map_err(|error| error.to_string())
    }
}
