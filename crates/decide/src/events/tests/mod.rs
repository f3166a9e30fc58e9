//! Event correlation; `sums` adds up the events that a server has after generated events.

mod stories;
mod sums;

use gantry_model::{Event, Timestamp};
use gantry_testkit::meta;

use super::{EventCorrelator, EventRecord, Recording, Subject};

const SOURCE: &str = "deployment-controller";

fn web() -> Subject {
    Subject::namespaced("apps/v1", "Deployment", &meta("web"))
}

fn scaled(message: impl Into<String>) -> Event {
    Event::normal("ScalingReplicaSet", message.into())
}

impl EventCorrelator {
    /// Records a scaling of the Deployment `web`.
    fn record_scaled(&mut self, message: impl Into<String>, now: Timestamp) -> Recording {
        self.record(SOURCE, &web(), &scaled(message), now)
    }
}

impl Recording {
    fn created(self) -> EventRecord {
        match self {
            Self::Create(record) => record,
            other => panic!("not created: {other:?}"),
        }
    }

    fn increased(self) -> EventRecord {
        match self {
            Self::Increase(record) => record,
            other => panic!("not increased: {other:?}"),
        }
    }
}
