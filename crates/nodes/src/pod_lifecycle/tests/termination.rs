//! How pods end, and how they continue after a restart of their node.

use super::*;

/// A8.6, O6.10: a bound pod is removed by its node.
#[test]
fn a_deleted_pod_is_removed_when_it_has_stopped() {
    let mut pod = TestPod::of(&json!({}));
    pod.until(10);
    pod.take_story();
    pod.deleted(10, 30);
    pod.wake = Some(Timestamp::from_secs(START + 10));
    pod.until(60);
    assert_story(
        &pod.take_story(),
        "
        10.0 Killing Stopping container web
        12.0 Succeeded initialized web:Completed(0)
        ",
    );
    assert_eq!(pod.completion, Completion::Remove);
    assert_eq!(pod.condition("Ready").reason.as_deref(), Some("PodCompleted"));
}

#[test]
fn a_container_that_does_not_stop_is_killed_after_the_grace_period() {
    let mut pod = TestPod::of(&json!({})).annotated(&[("terminate-seconds", "100")]);
    pod.until(10);
    pod.deleted(10, 30);
    pod.wake = Some(Timestamp::from_secs(START + 10));
    pod.until(20);
    pod.take_story();
    // A second deletion with a shorter grace period.
    pod.deleted(10, 15);
    pod.wake = Some(Timestamp::from_secs(START + 21));
    pod.until(60);
    assert_story(&pod.take_story(), "25.0 Failed initialized web:Error(137)");
    assert_eq!(pod.completion, Completion::Remove);
}

#[test]
fn a_deleted_pod_that_never_started_is_removed_at_once() {
    let mut pod = TestPod::of(&json!({"containers": [{"name": "web", "image": "nginx:404"}]}));
    pod.until(5);
    pod.take_story();
    pod.deleted(5, 30);
    pod.wake = Some(Timestamp::from_secs(START + 5));
    pod.until(5);
    assert_eq!(pod.completion, Completion::Remove);
    assert_eq!(pod.status.phase.as_deref(), Some("Pending"));
}

/// A§8.3: without a grace period the server needs no second delete; only finalizers may keep the object.
#[test]
fn without_grace_the_pod_ends_at_once() {
    let mut pod = TestPod::of(&json!({}));
    pod.until(10);
    pod.deleted(10, 0);
    pod.wake = Some(Timestamp::from_secs(START + 10));
    pod.until(10);
    assert_eq!((pod.completion, pod.wake), (Completion::Finished, None));
    assert_eq!(pod.status.phase.as_deref(), Some("Failed"));
}

#[test]
fn a_completed_pod_has_the_phase_of_its_restart_policy() {
    let ends = |policy: &str, annotations: &[(&str, &str)]| {
        let mut pod = TestPod::of(&json!({"restartPolicy": policy})).annotated(annotations);
        pod.until(30);
        (
            pod.status.phase.clone().unwrap(),
            pod.completion,
            pod.status.container_statuses.as_ref().unwrap()[0].restart_count,
        )
    };
    let fails = [("crash-after", "2"), ("exit-code", "1")];
    assert_eq!(ends("Never", &[]), ("Succeeded".to_owned(), Completion::Finished, 0));
    assert_eq!(ends("OnFailure", &[]), ("Succeeded".to_owned(), Completion::Finished, 0));
    assert_eq!(ends("Never", &fails), ("Failed".to_owned(), Completion::Finished, 0));
    assert_eq!(ends("OnFailure", &fails), ("Running".to_owned(), Completion::Active, 2));
}

#[test]
fn a_sidecar_does_not_prevent_completion() {
    let sidecar = json!([{"name": "proxy", "image": "p:1", "restartPolicy": "Always"}]);
    let mut pod = TestPod::of(&json!({"restartPolicy": "Never", "initContainers": sidecar}));
    pod.until(60);
    assert_eq!((pod.status.phase.as_deref(), pod.completion), (Some("Succeeded"), Completion::Finished));
}

#[test]
fn a_pod_continues_from_its_reported_status() {
    let crashing = || TestPod::of(&json!({})).annotated(&[("crash-after", "3")]);
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
    let mut quiet = TestPod::of(&json!({}));
    quiet.until(60);
    let before = quiet.status.clone();
    quiet.restarted().wake = Some(Timestamp::from_secs(START + 100));
    quiet.until(100);
    assert_eq!(quiet.status, before, "the status of a healthy pod is unchanged");
    quiet.take_story();
    quiet.deleted(100, 30);
    quiet.restarted().wake = Some(Timestamp::from_secs(START + 101));
    quiet.until(200);
    assert_story(&quiet.take_story(), "102.0 Succeeded initialized web:Completed(0)");
    assert_eq!(quiet.completion, Completion::Remove);
    let mut done = TestPod::of(&json!({"restartPolicy": "Never"}));
    done.until(60);
    let before = done.status.clone();
    done.restarted().wake = Some(Timestamp::from_secs(START + 100));
    done.until(100);
    assert_eq!((done.completion, &done.status), (Completion::Finished, &before));
}

#[test]
fn a_pod_that_exceeds_its_active_deadline_fails() {
    let mut pod = TestPod::of(&json!({"activeDeadlineSeconds": 10}));
    pod.until(3);
    pod.take_story();
    pod.until(60);
    assert_story(
        &pod.take_story(),
        "
        10.0 DeadlineExceeded Pod was active on the node longer than the specified deadline
        10.0 Killing Stopping container web
        12.0 Failed initialized web:Completed(0)
        ",
    );
    let reported = |pod: &TestPod| (pod.status.reason.clone(), pod.status.message.clone(), pod.completion);
    let message = "Pod was active on the node longer than the specified deadline".to_owned();
    let expected = (Some("DeadlineExceeded".to_owned()), Some(message), Completion::Finished);
    assert_eq!(reported(&pod), expected);
    pod.restarted().until(90);
    assert_eq!(reported(&pod), expected, "the status is kept after a restart of the node");
    assert_eq!(pod.take_story(), "");
}

#[test]
fn a_pod_that_never_ran_exceeds_its_deadline_too() {
    let image = json!([{"name": "web", "image": "nginx:broken"}]);
    let mut pod = TestPod::of(&json!({"activeDeadlineSeconds": 5, "containers": image}));
    pod.until(6);
    assert_eq!((pod.status.phase.as_deref(), pod.completion), (Some("Failed"), Completion::Finished));
}

#[test]
fn a_pod_that_ends_in_time_does_not_exceed_its_deadline() {
    let mut pod = TestPod::of(&json!({"activeDeadlineSeconds": 10, "restartPolicy": "Never"}));
    let story = pod.until(60).take_story();
    assert!(!story.contains("DeadlineExceeded"), "{story}");
    assert_eq!(pod.status.phase.as_deref(), Some("Succeeded"));
}
