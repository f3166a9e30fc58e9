//! RollingUpdate, one step at a time.

use gantry_decide::deployment::{Action, IfRefused, RefusedStep, SyncError, SyncResult, WaitingOn};
use gantry_model::{Deployment, Limit, ReplicaSet, Strategy, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, decided_after, lines, refusal_of, sizes};

/// 10 pods, at most 13, at least 8.
fn web() -> Deployment {
    deployment("web").size(10).rolling(Limit::Count(3), Limit::Count(2)).annotated(keys::REVISION, "2")
}

fn old(web: &Deployment, size: u16, available: u16) -> ReplicaSet {
    let set = replica_set("old").owned_by(web).image("old:1").created(noon_plus(-60)).revision(1);
    set.size(size).available(available).sized_for(10, 13)
}

fn new(web: &Deployment, size: u16, available: u16) -> ReplicaSet {
    replica_set("new").owned_by(web).revision(2).size(size).available(available).sized_for(10, 13)
}

/// D§10.1: one sync grows or shrinks, never both.
#[test]
fn a_sync_that_scales_up_does_not_scale_down() {
    let web = web();
    let decision = decided(&web, &[old(&web, 8, 8), new(&web, 3, 3)]);
    assert_eq!(sizes(&decision), ["scale new 3 -> 5"], "although 3 old ones could be deleted");
    let last = lines(&decision).last().unwrap().clone();
    assert_eq!(
        last, "report 11 pods, 3 updated, 11 ready, 11 available",
        "the status is reported in the same sync"
    );
    assert_eq!(decision.waiting_on, [WaitingOn::OwnWrites]);
}

/// D§10.1, step 2: a new set that is too large is scaled down.
#[test]
fn a_new_set_that_is_too_large_is_trimmed() {
    let web = web();
    assert_eq!(sizes(&decided(&web, &[new(&web, 14, 14)])), ["scale new 14 -> 10"]);
}

/// D8.2: the size and both annotations are in one write, and a resize to the same size is not written, however stale
/// its annotations are. D8.3: the write is conditional; if it is refused, the sync fails.
#[test]
fn size_and_annotations_go_in_one_write() {
    let web = web();
    let decision = decided(&web, &[old(&web, 8, 8), new(&web, 3, 3)]);
    let edit = crate::edit_of(&decision, "new").unwrap();
    assert_eq!(
        (edit.annotations[keys::DESIRED_REPLICAS].as_str(), edit.annotations[keys::MAX_REPLICAS].as_str()),
        ("10", "13")
    );
    assert_eq!(refusal_of(&decision, "new"), Some(IfRefused::Fail));
    let stale_max = new(&web, 10, 10).annotated(keys::MAX_REPLICAS, "99");
    assert_eq!(sizes(&decided(&web, &[stale_max])), [""; 0]);
}

/// D10.1, D10.5: the reasons why a rollout waits are reported: the ceiling, the floor, and the pods behind both.
#[test]
fn a_stuck_rollout_reports_what_it_waits_for() {
    let web = web();
    let decision = decided(&web, &[old(&web, 8, 8), new(&web, 5, 0)]);
    assert_eq!(sizes(&decision), [""; 0]);
    assert_eq!(
        decision.waiting_on,
        [
            WaitingOn::SurgeLimit { total: 13, limit: 13 },
            WaitingOn::AvailabilityFloor { available: 8, minimum: 8, new_unavailable: 5 },
            WaitingOn::NewPods { set: "new".into(), wanted: 5.into(), available: 0.into() },
        ]
    );
}

/// D10.1: new pods that are available beyond the new set's size increase the number of old pods to delete.
#[test]
fn surplus_new_pods_increase_the_old_pods_to_delete() {
    let web = web();
    let decision = decided(&web, &[old(&web, 9, 0), new(&web, 4, 6)]);
    assert_eq!(sizes(&decision), ["scale old 9 -> 2"], "13 pods, at least 8, and 2 more than desired");
}

/// A finished rollout waits for nothing.
#[test]
fn a_finished_rollout_waits_for_nothing() {
    let web = web();
    assert_eq!(decided(&web, &[old(&web, 0, 0), new(&web, 10, 10)]).waiting_on, []);
}

/// D10.2: unavailable pods are deleted first, from the oldest set on, and no more than may be deleted in all.
#[test]
fn unhealthy_pods_are_deleted_first_within_the_limit() {
    let web = web();
    let decision = decided(&web, &[old(&web, 8, 6), new(&web, 5, 5)]);
    assert_eq!(
        sizes(&decision),
        ["scale old 8 -> 6", "scale old 6 -> 3"],
        "2 unhealthy, 3 above the floor of 8"
    );
    let mut older = old(&web, 4, 0).created(noon_plus(-90)).image("old:0");
    older.meta.name = "older".into();
    let decision = decided(&web, &[old(&web, 5, 0), older, new(&web, 4, 4)]);
    assert_eq!(sizes(&decision), ["scale older 4 -> 0", "scale old 5 -> 4"], "5 of 9");
}

/// D§10.1, step 3: after any scale-down the sync ends: the set has to follow first.
#[test]
fn a_sync_that_scales_down_ends_there() {
    let mut web = web().reported(10, 10, 10);
    web.revision_history_limit = Some(0.into());
    let mut drained = old(&web, 0, 0).created(noon_plus(-90)).image("old:0");
    drained.meta.name = "drained".into();
    for (which, old_size, old_available, new_available) in
        [("healthy", 3, 3, 10), ("unhealthy", 3, 0, 7), ("equal numbers of both", 4, 2, 8)]
    {
        let sets = [drained.clone(), old(&web, old_size, old_available), new(&web, 10, new_available)];
        let decision = decided(&web, &sets);
        assert!(sizes(&decision).iter().all(|line| line.starts_with("scale old")), "{which}: {decision:?}");
        assert_eq!(decision.waiting_on, [WaitingOn::OwnWrites], "{which}");
    }
}

/// D10.3: the oldest set drains first.
#[test]
fn the_oldest_set_is_scaled_down_first() {
    let web = web();
    let mut older = old(&web, 4, 4).created(noon_plus(-90)).image("old:0");
    older.meta.name = "older".into();
    let decision = decided(&web, &[old(&web, 4, 4), older, new(&web, 5, 5)]);
    assert_eq!(sizes(&decision), ["scale older 4 -> 0", "scale old 4 -> 3"], "5 more than the floor of 8");
}

/// D10.3: available pods that a set of size zero still reports are terminating and do not count.
#[test]
fn pods_of_an_emptied_set_do_not_count_as_available() {
    let web = web();
    let mut emptied = old(&web, 0, 3).created(noon_plus(-90)).image("old:0");
    emptied.meta.name = "emptied".into();
    let sets = [emptied, old(&web, 8, 8), new(&web, 5, 0)];
    assert_eq!(sizes(&decided(&web, &sets)), [""; 0], "8 of at least 8 are available");
    let sets = [sets[0].clone(), old(&web, 8, 8), new(&web, 5, 2)];
    assert_eq!(sizes(&decided(&web, &sets)), ["scale old 8 -> 6"], "10 of at least 8, not 13");
}

/// D10.4: a refused scale-down is ignored: the sync continues as if there had been nothing to scale down.
#[test]
fn a_refused_scale_down_does_not_end_the_sync() {
    let web = web();
    let sets = [old(&web, 8, 8), new(&web, 5, 5)];
    let decision = decided(&web, &sets);
    let shrink =
        decision.steps.iter().find(|s| matches!(&s.action, Action::UpdateReplicaSet { .. })).unwrap();
    assert_eq!(shrink.if_refused, IfRefused::DecideOnScaleDown);
    let after = decided_after(RefusedStep::ScaleDownFailed, &web, &sets);
    assert_eq!(sizes(&after), [""; 0]);
    assert_eq!(after.result, SyncResult::Done);
    assert!(
        matches!(after.steps.last().unwrap().action, Action::UpdateStatus { .. }),
        "the status is still reported"
    );
    let half_done = [old(&web, 6, 8), new(&web, 5, 5)];
    let after = decided_after(RefusedStep::ScaleDownFailed, &web, &half_done);
    assert_eq!(sizes(&after), [""; 0], "completed scale-downs count in the next sync only");
}

/// D7.1: a limit that is not a percentage is an error of the sync, once a size has to be computed.
#[test]
fn a_limit_that_cannot_be_read_is_an_error() {
    let mut web = web();
    let bad = gantry_testkit::invalid_limit("3");
    web.strategy = Strategy::RollingUpdate(Err(bad.clone()));
    let decision = decided(&web, &[old(&web, 8, 8), new(&web, 5, 5)]);
    assert_eq!(decision.result, SyncResult::Failed(SyncError::InvalidLimit(bad.clone())));
    assert!(bad.to_string().contains("\"3\""), "{bad}");
    assert_eq!(decided(&web, &[]).result, SyncResult::Failed(SyncError::InvalidLimit(bad)));
}

/// D7.3, D7.4: Recreate has no surge, and no pods may be unavailable.
#[test]
fn recreate_has_no_limits() {
    use gantry_decide::deployment::Limits;
    let web = web().recreate();
    assert_eq!(Limits::of(&web), Limits { desired: 10, surge: 0, unavailable: 0 });
}

/// D8.1, D7.3: sizes at the end of the range neither overflow nor wrap.
#[test]
fn sizes_at_the_end_of_the_range_do_not_wrap() {
    use gantry_decide::deployment::{Limits, new_set_size};
    use gantry_model::Replicas;
    let mut web = web().rolling(Limit::Percent(i32::MAX), Limit::Count(i32::MIN));
    web.replicas = Replicas::MAX;
    let _ = Limits::of(&web).ceiling();
    assert_eq!(new_set_size(&web, 0, 0).unwrap(), Replicas::MAX);
    let draft = decided(&web, &[]);
    assert!(sizes(&draft)[0].ends_with("size 2147483647"));
}
