//! Carries out a decision: records events, then writes the status.

use gantry_decide::disruption::{Decision, EVENT_SOURCE};
use gantry_model::{Refusal, keys};
use gantry_runtime::informer::{CachedDisruptionBudget, Typed as _};
use gantry_runtime::{NoneIf as _, ResourcePath};
use k8s_openapi::api::policy::v1 as wire;

use super::Disruption;
use super::observe::Snapshot;

impl Disruption {
    /// Records the events and writes the status with the version that was read as precondition: a concurrent eviction
    /// fails the sync.
    pub(super) async fn apply(&self, snapshot: &Snapshot, decision: &Decision) -> Result<(), Refusal> {
        let meta = &snapshot.budget.parsed.meta;
        for event in &decision.events {
            let (version, kind) = (keys::POLICY_V1, keys::DISRUPTION_BUDGET);
            self.context.record_event(EVENT_SOURCE, version, kind, meta, event.clone());
        }
        for (name, event) in &decision.pod_events {
            if let Some(pod) = snapshot.pods.iter().find(|pod| pod.meta.name == *name) {
                self.context.record_event(EVENT_SOURCE, "v1", "Pod", &pod.meta, event.clone());
            }
        }
        let Some(status) = &decision.status else { return Ok(()) };
        tracing::debug!(budget = %meta.key(), allowed = %status.disruptions_allowed, "counted");
        let mut changed = wire::PodDisruptionBudget::clone(&snapshot.budget.wire);
        changed.status = Some(status.render());
        let resource = CachedDisruptionBudget::resource();
        let target = ResourcePath::object(&resource, Some(&meta.namespace), &meta.name).part("status");
        // It may have been deleted meanwhile.
        self.context.api.replace::<wire::PodDisruptionBudget>(&target, &changed).await.none_if_absent()?;
        Ok(())
    }
}
