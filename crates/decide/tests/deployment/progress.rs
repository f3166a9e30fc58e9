//! Progress and its deadline.

use gantry_decide::Wake;
use gantry_decide::deployment::Deadline;
use gantry_model::{
    ConditionStatus, Deployment, DeploymentCondition, DeploymentConditionType, ReplicaSet,
    ReplicaSetCondition, ReplicaSetConditionType, keys,
};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, decided_at, status_after};

pub(crate) fn failure(reason: &str, message: &str) -> ReplicaSetCondition {
    ReplicaSetCondition {
        condition_type: ReplicaSetConditionType::ReplicaFailure,
        status: ConditionStatus::True,
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition: Some(noon_plus(-5)),
    }
}

fn web() -> Deployment {
    deployment("web").size(3).annotated(keys::REVISION, "1").deadline(Some(60)).reported(3, 3, 1)
}

fn new(web: &Deployment, available: u16) -> ReplicaSet {
    replica_set("new").owned_by(web).revision(1).size(3).available(available).sized_for(3, 4)
}

fn progress_at(seconds: i64, web: &Deployment, sets: &[ReplicaSet]) -> Option<DeploymentCondition> {
    status_after(web, &decided_at(noon_plus(seconds), web, sets)).progressing().cloned()
}

fn recorded(status: ConditionStatus, reason: &str) -> Deployment {
    web().progressing(status, reason, noon_plus(0))
}

/// D16.1: without a deadline there is no Progressing condition, and an existing one is removed.
#[test]
fn without_a_deadline_there_is_no_progressing_condition() {
    let web = recorded(ConditionStatus::True, "ReplicaSetUpdated").deadline(None);
    assert_eq!(progress_at(5, &web, &[new(&web, 1)]), None);
}

/// D16.2: after a finished rollout a dip in availability starts no deadline.
#[test]
fn unavailability_after_the_rollout_starts_no_deadline() {
    let web = recorded(ConditionStatus::True, "NewReplicaSetAvailable");
    let dipped = progress_at(9000, &web, &[new(&web, 1)]).unwrap();
    assert_eq!((dipped.reason.as_str(), dipped.last_update), ("NewReplicaSetAvailable", Some(noon_plus(0))));
    let decision = decided_at(noon_plus(9000), &web, &[new(&web, 1)]);
    assert_eq!((decision.wake, decision.deadline), (Wake::OnChange, Deadline::None));
}

/// D16.2: a new rollout, with old pods besides the new ones, ends that state.
#[test]
fn a_new_rollout_ends_the_complete_state() {
    let web = recorded(ConditionStatus::True, "NewReplicaSetAvailable").reported(4, 0, 3);
    let old = replica_set("old").owned_by(&web).image("old:1").created(noon_plus(-9)).size(3).available(3);
    let new = replica_set("new").owned_by(&web).revision(1).size(1).sized_for(3, 4);
    let progress = progress_at(5, &web, &[old.sized_for(3, 4), new]).unwrap();
    assert_eq!(
        (progress.reason.as_str(), progress.message.as_str()),
        ("ReplicaSetUpdated", "ReplicaSet \"new\" is progressing.")
    );
}

/// D16, step 3: the deadline of a new rollout does not count from the completion of the previous one.
#[test]
fn a_new_rollout_has_not_timed_out_before_it_progressed() {
    let web = recorded(ConditionStatus::True, "NewReplicaSetAvailable").reported(4, 1, 3);
    let old = replica_set("old").owned_by(&web).image("old:1").created(noon_plus(-9)).size(3).available(3);
    let new = replica_set("new").owned_by(&web).revision(1).size(1).sized_for(3, 4);
    let progress = progress_at(9000, &web, &[old.sized_for(3, 4), new]).unwrap();
    assert_eq!(progress.reason, "NewReplicaSetAvailable");
}

/// D16, step 3: completion takes precedence over a missed deadline, with this message.
#[test]
fn a_complete_rollout_has_successfully_progressed() {
    let web = recorded(ConditionStatus::False, "ProgressDeadlineExceeded");
    let done = progress_at(5, &web, &[new(&web, 3)]).unwrap();
    assert_eq!((done.status, done.reason.as_str()), (ConditionStatus::True, "NewReplicaSetAvailable"));
    assert_eq!(done.message, "ReplicaSet \"new\" has successfully progressed.");
}

/// D16, step 3: progress renews the update time even under the same reason, and clears a missed deadline.
#[test]
fn progress_restarts_the_deadline() {
    let web = recorded(ConditionStatus::True, "ReplicaSetUpdated");
    let renewed = progress_at(30, &web, &[new(&web, 2)]).unwrap();
    assert_eq!((renewed.last_update, renewed.last_transition), (Some(noon_plus(30)), Some(noon_plus(0))));
    let late = recorded(ConditionStatus::False, "ProgressDeadlineExceeded");
    let cleared = progress_at(90, &late, &[new(&late, 2)]).unwrap();
    assert_eq!((cleared.reason.as_str(), cleared.status), ("ReplicaSetUpdated", ConditionStatus::True));
    assert_eq!(cleared.last_transition, Some(noon_plus(90)));
}

/// D16, step 3, D16.6, D21.5: a missed deadline changes the condition and nothing else.
#[test]
fn a_missed_deadline_changes_only_the_condition() {
    let web = recorded(ConditionStatus::True, "NewReplicaSetCreated")
        .rolling(gantry_model::Limit::Count(1), gantry_model::Limit::Count(2));
    let decision = decided_at(noon_plus(61), &web, &[new(&web, 1)]);
    let status = status_after(&web, &decision);
    let missed = status.progressing().unwrap();
    assert_eq!(
        (missed.status.clone(), missed.reason.as_str()),
        (ConditionStatus::False, "ProgressDeadlineExceeded")
    );
    assert_eq!(missed.message, "ReplicaSet \"new\" has timed out progressing.");
    assert_eq!(decision.deadline, Deadline::Exceeded);
    assert_eq!(crate::sizes(&decision), [""; 0]);
    let available = status.condition(&DeploymentConditionType::Available).unwrap();
    assert_eq!(available.status, ConditionStatus::True, "available although it makes no progress");
    let again =
        progress_at(62, &recorded(ConditionStatus::False, "ProgressDeadlineExceeded"), &[new(&web, 1)])
            .unwrap();
    assert_eq!(again.last_update, Some(noon_plus(0)), "the condition stays as first recorded");
}

/// A condition without a time is older than any deadline.
#[test]
fn an_undated_condition_has_timed_out() {
    let mut web = recorded(ConditionStatus::True, "ReplicaSetUpdated");
    web.status.conditions[0].last_update = None;
    assert_eq!(progress_at(1, &web, &[new(&web, 1)]).unwrap().reason, "ProgressDeadlineExceeded");
}

/// Messages name the Deployment while there is no new set.
#[test]
fn without_a_new_set_the_deployment_is_named() {
    let web = web().recreate().image("other:1").progressing(
        ConditionStatus::True,
        "ReplicaSetUpdated",
        noon_plus(0),
    );
    let web = web.reported(3, 0, 0);
    let old = |pods: u16| replica_set("old").owned_by(&web).image("old:1").pods(pods);
    let moving = progress_at(5, &web, &[old(2)]).unwrap();
    assert_eq!(moving.message, "Deployment \"web\" is progressing.", "one old pod was deleted");
    let timed_out = progress_at(61, &web, &[old(3)]).unwrap();
    assert_eq!(timed_out.message, "Deployment \"web\" has timed out progressing.");
}

/// D15.3, D16.3: a failure is copied with its time, preferably the new set's, and removed when no set has one.
#[test]
fn failures_of_the_sets_are_shown() {
    let web = web();
    let shown = |sets: &[ReplicaSet]| {
        status_after(&web, &decided(&web, sets)).condition(&DeploymentConditionType::ReplicaFailure).cloned()
    };
    let old = |name: &str, age: i64| {
        let mut set = replica_set(name).owned_by(&web).image(name).created(noon_plus(-age));
        set.status.conditions.push(failure("FailedDelete", name));
        set
    };
    let mut failing = new(&web, 1);
    failing.status.conditions.push(failure("FailedCreate", "quota"));
    let taken = shown(&[old("a", 9), failing]).unwrap();
    assert_eq!((taken.reason.as_str(), taken.message.as_str()), ("FailedCreate", "quota"));
    assert_eq!((taken.last_update, taken.last_transition), (Some(noon_plus(-5)), Some(noon_plus(-5))));
    assert_eq!(
        shown(&[old("b", 5), old("a", 9), new(&web, 1)]).unwrap().message,
        "a",
        "the oldest set that has one"
    );
    assert_eq!(shown(&[new(&web, 1)]), None);

    let mut had_one = web.clone();
    had_one.status.conditions.push(taken);
    let cleared = status_after(&had_one, &decided(&had_one, &[new(&web, 1)]));
    assert_eq!(cleared.condition(&DeploymentConditionType::ReplicaFailure), None);
}

/// D15.1, D15.2, D15.3: a failure that persists is left as first recorded; another reason replaces it, and its
/// transition time changes only with its status.
#[test]
fn a_persistent_failure_is_left_alone() {
    let shown = |status: ConditionStatus, reason: &str| {
        let mut web = web();
        web.status.conditions.push(DeploymentCondition {
            condition_type: DeploymentConditionType::ReplicaFailure,
            status,
            reason: reason.to_owned(),
            message: "as first recorded".to_owned(),
            last_update: Some(noon_plus(-60)),
            last_transition: Some(noon_plus(-90)),
        });
        let mut failing = new(&web, 1);
        failing.status.conditions.push(failure("FailedCreate", "quota"));
        let status = status_after(&web, &decided(&web, &[failing]));
        let c = status.condition(&DeploymentConditionType::ReplicaFailure).unwrap().clone();
        (c.message, c.last_update, c.last_transition)
    };
    let at = |seconds| Some(noon_plus(seconds));
    assert_eq!(shown(ConditionStatus::True, "FailedCreate"), ("as first recorded".into(), at(-60), at(-90)));
    assert_eq!(shown(ConditionStatus::True, "FailedDelete"), ("quota".into(), at(-5), at(-90)));
    assert_eq!(shown(ConditionStatus::False, "FailedCreate"), ("quota".into(), at(-5), at(-5)));
}

/// D16.4, D16.5: a changed status is written and its event triggers the next sync; an unchanged one plans the check.
#[test]
fn a_changed_status_plans_no_check() {
    let web = recorded(ConditionStatus::True, "ReplicaSetUpdated");
    let sets = [new(&web, 1)];
    let first = decided_at(noon_plus(1), &web, &sets);
    assert_eq!(first.wake, Wake::OnChange, "the status changed");
    let mut written = web.clone();
    written.status = status_after(&web, &first);
    let second = decided_at(noon_plus(1), &written, &sets);
    assert_eq!(second.steps, []);
    assert_eq!(second.wake, Wake::After(std::time::Duration::from_secs(60)));
    assert_eq!(second.deadline, Deadline::At(noon_plus(60)));
    let missed = recorded(ConditionStatus::False, "ProgressDeadlineExceeded");
    let mut reported = missed.clone();
    reported.status = status_after(&missed, &decided_at(noon_plus(61), &missed, &sets));
    assert_eq!(decided_at(noon_plus(62), &reported, &sets).wake, Wake::OnChange, "nothing more to report");
}

/// D16.3, D16.5: progress with a time in the future was recorded before the clock was set back. It is recorded again
/// with the present time, once; the next check is after the usual delay, not hours later.
#[test]
fn progress_from_the_future_counts_from_now() {
    let web = recorded(ConditionStatus::True, "ReplicaSetUpdated");
    let redated = progress_at(-9000, &web, &[new(&web, 1)]).unwrap();
    assert_eq!((redated.reason.as_str(), redated.last_update), ("ReplicaSetUpdated", Some(noon_plus(-9000))));
    assert_eq!(redated.last_transition, Some(noon_plus(0)), "the status has not changed");
    let same = progress_at(0, &web, &[new(&web, 1)]).unwrap();
    assert_eq!(same.last_update, Some(noon_plus(0)), "the present is not the future");
    let done = recorded(ConditionStatus::True, "NewReplicaSetAvailable").reported(4, 3, 1);
    let complete = progress_at(-9000, &done, &[new(&done, 1)]).unwrap();
    assert_eq!(
        complete.last_update,
        Some(noon_plus(0)),
        "the condition of a complete rollout keeps its time"
    );
}
