//! Stories about recording events; `sums` adds up what generated ones leave on a server.

mod stories;
mod sums;

use gantry_model::{Event, Timestamp};
use gantry_testkit::meta;

use super::{EventRecord, Recorder, Recording, Subject};

const SOURCE: &str = "deployment-controller";

fn web() -> Subject {
    Subject::namespaced("apps/v1", "Deployment", &meta("web"))
}

fn scaled(message: impl Into<String>) -> Event {
    Event::normal("ScalingReplicaSet", message.into())
}

impl Recorder {
    /// Tells a scaling of the Deployment `web`.
    fn tell(&mut self, message: impl Into<String>, now: Timestamp) -> Recording {
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
