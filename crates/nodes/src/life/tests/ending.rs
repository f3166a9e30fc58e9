//! How lives end, and how they go on after a restart.

use super::*;

/// A8.6, O6.10: only the node ends the life of a pod that was bound to it.
#[test]
fn a_deleted_pod_is_given_its_time_and_then_removed() {
    let mut life = Life::of(&json!({}));
    life.until(10);
    life.take_story();
    life.deleted(10, 30);
    life.wake = Some(Timestamp::from_secs(START + 10));
    life.until(60);
    assert_story(
        &life.take_story(),
        "
        10.0 Killing Stopping container web
        12.0 Succeeded initialized web:Completed(0)
        ",
    );
    assert_eq!(life.end, End::Remove);
    assert_eq!(life.condition("Ready").reason.as_deref(), Some("PodCompleted"));
}

#[test]
fn a_container_that_does_not_stop_is_killed_in_the_end() {
    let mut life = Life::of(&json!({})).annotated(&[("terminate-seconds", "100")]);
    life.until(10);
    life.deleted(10, 30);
    life.wake = Some(Timestamp::from_secs(START + 10));
    life.until(20);
    life.take_story();
    // Somebody has less patience.
    life.deleted(10, 15);
    life.wake = Some(Timestamp::from_secs(START + 21));
    life.until(60);
    assert_story(&life.take_story(), "25.0 Failed initialized web:Error(137)");
    assert_eq!(life.end, End::Remove);
}

#[test]
fn a_pod_that_never_started_goes_at_once() {
    let mut life = Life::of(&json!({"containers": [{"name": "web", "image": "nginx:404"}]}));
    life.until(5);
    life.take_story();
    life.deleted(5, 30);
    life.wake = Some(Timestamp::from_secs(START + 5));
    life.until(5);
    assert_eq!(life.end, End::Remove);
    assert_eq!(life.status.phase.as_deref(), Some("Pending"));
}

/// 8.3: without grace the server needs no second delete, only finalizers may hold the object.
#[test]
fn without_grace_nothing_is_waited_for() {
    let mut life = Life::of(&json!({}));
    life.until(10);
    life.deleted(10, 0);
    life.wake = Some(Timestamp::from_secs(START + 10));
    life.until(10);
    assert_eq!((life.end, life.wake), (End::Over, None));
    assert_eq!(life.status.phase.as_deref(), Some("Failed"));
}

#[test]
fn a_task_ends_as_its_restart_policy_says() {
    let ends = |policy: &str, annotations: &[(&str, &str)]| {
        let mut life = Life::of(&json!({"restartPolicy": policy})).annotated(annotations);
        life.until(30);
        (
            life.status.phase.clone().unwrap(),
            life.end,
            life.status.container_statuses.as_ref().unwrap()[0].restart_count,
        )
    };
    let fails = [("crash-after", "2"), ("exit-code", "1")];
    assert_eq!(ends("Never", &[]), ("Succeeded".to_owned(), End::Over, 0));
    assert_eq!(ends("OnFailure", &[]), ("Succeeded".to_owned(), End::Over, 0));
    assert_eq!(ends("Never", &fails), ("Failed".to_owned(), End::Over, 0));
    assert_eq!(ends("OnFailure", &fails), ("Running".to_owned(), End::NotYet, 2));
}

#[test]
fn a_sidecar_does_not_keep_a_task_from_ending() {
    let sidecar = json!([{"name": "proxy", "image": "p:1", "restartPolicy": "Always"}]);
    let mut life = Life::of(&json!({"restartPolicy": "Never", "initContainers": sidecar}));
    life.until(60);
    assert_eq!((life.status.phase.as_deref(), life.end), (Some("Succeeded"), End::Over));
}

#[test]
fn a_life_goes_on_where_it_was_reported_to_be() {
    let crashing = || Life::of(&json!({})).annotated(&[("crash-after", "3")]);
    for seconds in [3, 6, 8, 12, 15, 20, 50] {
        let mut whole = crashing();
        whole.until(seconds);
        let before = whole.status.clone();
        whole.restarted();
        whole.wake = Some(Timestamp::from_secs(START + seconds));
        whole.until(seconds);
        assert_eq!(whole.status.start_time, before.start_time);
        let restarts =
            |status: &wire::PodStatus| status.container_statuses.as_ref().unwrap()[0].restart_count;
        assert!((0..=1).contains(&(restarts(&whole.status) - restarts(&before))), "after {seconds} s");
    }
    let mut quiet = Life::of(&json!({}));
    quiet.until(60);
    let before = quiet.status.clone();
    quiet.restarted().wake = Some(Timestamp::from_secs(START + 100));
    quiet.until(100);
    assert_eq!(quiet.status, before, "a pod that runs well runs on as if nothing had been");
    quiet.take_story();
    quiet.deleted(100, 30);
    quiet.restarted().wake = Some(Timestamp::from_secs(START + 101));
    quiet.until(200);
    assert_story(&quiet.take_story(), "102.0 Succeeded initialized web:Completed(0)");
    assert_eq!(quiet.end, End::Remove);
    let mut done = Life::of(&json!({"restartPolicy": "Never"}));
    done.until(60);
    let before = done.status.clone();
    done.restarted().wake = Some(Timestamp::from_secs(START + 100));
    done.until(100);
    assert_eq!((done.end, &done.status), (End::Over, &before));
}

#[test]
fn a_pod_that_is_active_for_too_long_is_stopped_and_has_failed() {
    let mut life = Life::of(&json!({"activeDeadlineSeconds": 10}));
    life.until(3);
    life.take_story();
    life.until(60);
    assert_story(
        &life.take_story(),
        "
        10.0 DeadlineExceeded Pod was active on the node longer than the specified deadline
        10.0 Killing Stopping container web
        12.0 Failed initialized web:Completed(0)
        ",
    );
    let reported = |life: &Life| (life.status.reason.clone(), life.status.message.clone(), life.end);
    let message = "Pod was active on the node longer than the specified deadline".to_owned();
    let expected = (Some("DeadlineExceeded".to_owned()), Some(message), End::Over);
    assert_eq!(reported(&life), expected);
    life.restarted().until(90);
    assert_eq!(reported(&life), expected, "it is remembered over a restart of the node");
    assert_eq!(life.take_story(), "");
}

#[test]
fn a_pod_that_never_came_to_run_exceeds_its_deadline_too() {
    let image = json!([{"name": "web", "image": "nginx:broken"}]);
    let mut life = Life::of(&json!({"activeDeadlineSeconds": 5, "containers": image}));
    life.until(6);
    assert_eq!((life.status.phase.as_deref(), life.end), (Some("Failed"), End::Over));
}

#[test]
fn a_pod_that_ends_in_time_does_not_exceed_its_deadline() {
    let mut life = Life::of(&json!({"activeDeadlineSeconds": 10, "restartPolicy": "Never"}));
    let story = life.until(60).take_story();
    assert!(!story.contains("DeadlineExceeded"), "{story}");
    assert_eq!(life.status.phase.as_deref(), Some("Succeeded"));
}
