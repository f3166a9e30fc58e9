//! Passes changes to the graph, and carries out their effects.

use gantry_decide::events::Subject;
use gantry_decide::gc::{EVENT_SOURCE, Effect, EnqueueMode, GraphChange, GraphNode, ObjectEvent, Presence};
use gantry_model::ObjectMetadata;
use gantry_runtime::informer::MetadataOnly;
use gantry_runtime::{Informer, InformerEvent};

use super::Garbage;

/// Subscribes the graph to the changes of one kind.
pub(super) fn subscribe(informer: &Informer<MetadataOnly>, garbage: &Garbage) {
    let garbage = garbage.clone();
    informer.subscribe(move |change| {
        garbage.observe(match change {
            InformerEvent::Updated { old, new } if garbage.is_no_change(&old.0, &new.0) => return,
            InformerEvent::Added(object) | InformerEvent::Updated { new: object, .. } => {
                GraphChange::Applied(object.0.clone())
            }
            InformerEvent::Deleted(object) => GraphChange::Deleted(object.0.identity.clone()),
        });
    });
}

impl Garbage {
    /// Whether an update changes nothing in the graph: most only change the status of an object.
    fn is_no_change(&self, old: &ObjectMetadata, new: &ObjectMetadata) -> bool {
        let is_same = old.identity == new.identity
            && old.owners == new.owners
            && old.finalizers == new.finalizers
            && old.deleting == new.deleting;
        // A live read may have shown meanwhile that the object does not exist.
        let is_shown = |node: &GraphNode| node.presence() != Presence::Virtual;
        is_same && self.graph_state().graph.node(&new.identity.uid).is_some_and(is_shown)
    }

    /// Applies a change to the graph and carries out the effects.
    pub(super) fn observe(&self, change: GraphChange) {
        let mut graph_state = self.graph_state();
        let graph_state = &mut *graph_state;
        let effects = graph_state.graph.observe(change, &mut graph_state.absent);
        for effect in effects {
            match effect {
                Effect::AttemptToDelete(item, EnqueueMode::AtOnce) => self.to_delete.add(item),
                Effect::AttemptToDelete(item, EnqueueMode::RateLimited) => {
                    self.to_delete.add_rate_limited(item);
                }
                Effect::AttemptToOrphan(owner) => self.to_orphan.add(owner),
                Effect::RecordEvent(report) => self.record_event(report),
            }
        }
    }

    fn record_event(&self, report: ObjectEvent) {
        let object = report.object;
        let subject = Subject {
            api_version: object.api_version,
            kind: object.kind,
            namespace: object.namespace,
            name: object.name,
            uid: object.uid,
            resource_version: "".into(),
        };
        self.context.events.record(EVENT_SOURCE, subject, report.event);
    }
}
