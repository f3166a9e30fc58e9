//! Pause and resume.

use gantry_decide::deployment::{Deadline, IfRefused};
use gantry_model::{ConditionStatus, Deployment, keys};
use gantry_testkit::{DeploymentBuilder, NOON, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, edit_of, sizes, status_after};

fn progress(web: &Deployment) -> Option<(ConditionStatus, String, String)> {
    let status = status_after(web, &decided(web, &[]));
    status.progressing().map(|c| (c.status.clone(), c.reason.clone(), c.message.clone()))
}

/// D11.1: pause and resume are recorded once, with these messages.
#[test]
fn pause_and_resume_are_noted_once() {
    let paused = deployment("web").paused();
    let unknown =
        |reason: &str, message: &str| Some((ConditionStatus::Unknown, reason.into(), message.into()));
    assert_eq!(progress(&paused), unknown("DeploymentPaused", "Deployment is paused"));
    assert_eq!(decided(&paused, &[]).steps[0].if_refused, IfRefused::Fail);

    let noted = paused.clone().progressing(ConditionStatus::Unknown, "DeploymentPaused", noon_plus(-60));
    let again = status_after(&noted, &decided(&noted, &[]));
    assert_eq!(
        again.progressing().unwrap().last_update,
        Some(noon_plus(-60)),
        "the condition is not written again"
    );

    let mut resumed = noted.size(0);
    resumed.paused = false;
    let steps = decided(&resumed, &[]).steps;
    let gantry_decide::deployment::Action::UpdateStatus { status, .. } = &steps[0].action else {
        panic!("{steps:?}")
    };
    let condition = status.progressing().unwrap();
    assert_eq!(
        (condition.reason.as_str(), condition.message.as_str()),
        ("DeploymentResumed", "Deployment is resumed")
    );
    assert!(steps.len() > 1, "the same sync continues");
}

/// D11.1: without a deadline nothing is recorded, and a missed deadline is not overwritten.
#[test]
fn a_missed_deadline_is_not_overwritten() {
    assert_eq!(progress(&deployment("web").deadline(None).paused()), None);
    let missed =
        deployment("web").paused().progressing(ConditionStatus::False, "ProgressDeadlineExceeded", NOON);
    assert_eq!(progress(&missed).unwrap().1, "ProgressDeadlineExceeded");
    let running =
        deployment("web").deadline(None).progressing(ConditionStatus::Unknown, "DeploymentPaused", NOON);
    assert!(decided(&running, &[]).steps.len() > 1, "no resumption is recorded");
}

/// D11.2: a new template is not rolled out, a changed size is applied, and the new set's annotations are synced.
#[test]
fn while_paused_only_the_size_moves() {
    let mut web = deployment("web").size(5).paused().annotated("team", "a");
    web.min_ready_seconds = 3;
    assert_eq!(sizes(&decided(&web, &[])), [""; 0], "a Deployment that is created paused creates no set");
    let old = replica_set("old").owned_by(&web).image("old:1").revision(1).size(3).sized_for(3, 4);
    assert_eq!(sizes(&decided(&web, &[old])), ["scale old 3 -> 5"]);
    let new = replica_set("new").owned_by(&web).revision(1).size(5).sized_for(5, 7);
    let edit = edit_of(&decided(&web, &[new]), "new").unwrap();
    assert_eq!((edit.annotations["team"].as_str(), edit.min_ready_seconds), ("a", 3));
}

/// D11.4: the deadline counts from the resumption.
#[test]
fn the_deadline_counts_from_the_resumption() {
    let web = deployment("web").annotated(keys::REVISION, "1").reported(3, 3, 0);
    let web = web.progressing(ConditionStatus::Unknown, "DeploymentPaused", noon_plus(-10_000));
    let new = replica_set("new").owned_by(&web).revision(1).size(3).sized_for(3, 4);
    let decision = decided(&web, &[new]);
    assert_eq!(status_after(&web, &decision).progressing().unwrap().reason, "DeploymentResumed");
    assert_eq!(decision.deadline, Deadline::At(noon_plus(600)));
}
