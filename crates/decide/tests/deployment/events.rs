//! Which events are recorded, and which are not.

use gantry_decide::deployment::EVENT_SOURCE;
use gantry_model::{ConditionStatus, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, decided_at, messages};

/// D0: filters on events use this name.
#[test]
fn events_name_their_source_as_kubernetes_does() {
    assert_eq!(EVENT_SOURCE, "deployment-controller");
}

/// D17.1: pause, resume, a missed deadline, completion, clean-up and deletion are reported by conditions, not by
/// events.
#[test]
fn most_results_are_reported_without_events() {
    let web = deployment("web").size(1).annotated(keys::REVISION, "2");
    let set = |web: &gantry_model::Deployment, available| {
        replica_set("new").owned_by(web).revision(2).size(1).available(available).sized_for(1, 2)
    };
    let paused = web.clone().paused();
    assert_eq!(messages(&decided(&paused, &[set(&paused, 1)])), [""; 0]);
    let resumed = web.clone().progressing(ConditionStatus::Unknown, "DeploymentPaused", noon_plus(0));
    assert_eq!(messages(&decided(&resumed, &[set(&resumed, 1)])), [""; 0]);
    let late =
        web.clone().reported(1, 1, 0).progressing(ConditionStatus::True, "ReplicaSetUpdated", noon_plus(0));
    assert_eq!(messages(&decided_at(noon_plus(9000), &late, &[set(&late, 0)])), [""; 0]);
    let mut done = web.clone().reported(1, 1, 1);
    done.revision_history_limit = Some(0.into());
    let drained = replica_set("old").owned_by(&done).image("old:1").revision(1);
    let cleaned = decided(&done, &[drained, set(&done, 1)]);
    assert!(crate::sizes(&cleaned).contains(&"delete old".to_owned()));
    assert_eq!(messages(&cleaned), [""; 0]);
    let deleting = web.deleting_since(noon_plus(0));
    assert_eq!(messages(&decided(&deleting, &[set(&deleting, 1)])), [""; 0]);
}
