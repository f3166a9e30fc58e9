//! Records what the controllers do to sets, and their events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_json::Value;

use super::object::is_deleting;
use crate::{Commit, Component, KeyWrite, RequestInfo, SimObserver};

/// The prefix of the keys of ReplicaSets in the namespace of stories.
const SETS: &str = "/registry/replicasets/default/";

/// The prefix of the keys of events.
const EVENTS: &str = "/registry/events/default/";

/// The steps of the controllers since they were last taken. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Arc<Mutex<Vec<String>>>);

/// Records the commits of a simulation as steps.
pub(super) struct StepRecorder {
    steps: Steps,
    /// The size of each set, and whether it is being deleted.
    sets: BTreeMap<String, (i64, bool)>,
}

impl Steps {
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock())
    }

    /// Returns an observer that adds to these steps.
    pub(super) fn recorder(&self) -> StepRecorder {
        StepRecorder { steps: self.clone(), sets: BTreeMap::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StepRecorder {
    /// Returns the step that a write to a set is, unless it only changes the status.
    fn step(&mut self, set: &str, write: &KeyWrite) -> Option<String> {
        let object: Option<Value> = write.value.as_ref().and_then(|json| gantry_json::from_slice(json).ok());
        let Some(object) = object else {
            let (_, was_deleting) = self.sets.remove(set)?;
            return (!was_deleting).then(|| format!("delete {set}"));
        };
        let now = (object["spec"]["replicas"].as_i64().unwrap_or(0), is_deleting(&object));
        match self.sets.insert(set.to_owned(), now) {
            None => Some(format!("create {set} size {}", now.0)),
            Some((_, false)) if now.1 => Some(format!("delete {set}")),
            Some((size, _)) if size != now.0 => Some(format!("scale {set} {size} -> {}", now.0)),
            Some(_) => None,
        }
    }
}

/// Returns a new event about a Deployment, unless it is about scaling, which is a step already.
fn event(write: &KeyWrite) -> Option<String> {
    let event: Value = gantry_json::from_slice(write.value.as_ref()?).ok()?;
    let is_shown = event["involvedObject"]["kind"] == "Deployment"
        && event["reason"] != "ScalingReplicaSet"
        && event["count"].as_i64().unwrap_or(1) == 1;
    let text = |field: &str| event[field].as_str().unwrap_or_default();
    is_shown.then(|| format!("event {} {}: {}", text("type"), text("reason"), text("message")))
}

impl SimObserver for StepRecorder {
    fn committed(&mut self, commit: &Commit, _: Duration, request: RequestInfo) {
        for write in &commit.writes {
            let step = match write.key.strip_prefix(SETS) {
                Some(set) => self.step(set, write),
                None if write.key.starts_with(EVENTS) => event(write),
                None => None,
            };
            // The actions of a user are the commands themselves.
            let step = step.filter(|_| request.component != Component::User);
            self.steps.lock().extend(step);
        }
    }
}
