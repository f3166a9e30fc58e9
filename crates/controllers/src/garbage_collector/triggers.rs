//! What the graph hears, and what it asks for in return.

use gantry_decide::events::Subject;
use gantry_decide::gc::{Change as Seen, EVENT_SOURCE, Effect, Pace, Report};
use gantry_runtime::informer::MetadataOnly;
use gantry_runtime::{Change, Informer};

use super::Garbage;

/// Has the graph hear of everything that happens to one kind.
pub(super) fn subscribe(informer: &Informer<MetadataOnly>, garbage: &Garbage) {
    let garbage = garbage.clone();
    informer.subscribe(move |change| {
        garbage.observe(match change {
            Change::Added(object) | Change::Updated { new: object, .. } => Seen::Applied(object.0.clone()),
            Change::Deleted(object) => Seen::Deleted(object.0.identity.clone()),
        });
    });
}

impl Garbage {
    /// Takes in a change and does what the graph asks for.
    pub(super) fn observe(&self, seen: Seen) {
        let mut mind = self.mind();
        let mind = &mut *mind;
        let effects = mind.graph.observe(seen, &mut mind.absent);
        for effect in effects {
            match effect {
                Effect::AttemptToDelete(item, Pace::AtOnce) => self.to_delete.add(item),
                Effect::AttemptToDelete(item, Pace::RateLimited) => self.to_delete.add_rate_limited(item),
                Effect::AttemptToOrphan(owner) => self.to_orphan.add(owner),
                Effect::Report(report) => self.tell(report),
            }
        }
    }

    fn tell(&self, report: Report) {
        let about = report.about;
        let subject = Subject {
            api_version: about.api_version.into(),
            kind: about.kind.into(),
            namespace: about.namespace,
            name: about.name,
            uid: about.uid,
            resource_version: "".into(),
        };
        self.context.events.record(EVENT_SOURCE, subject, report.event);
    }
}
