//! Properties of all pods, whenever they are synced.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// This many milliseconds pass, and the pod is synced, due or not.
    Sync(i64),
    /// The node's process restarts.
    Restart,
    /// The deletion of the pod is requested with that many seconds of grace.
    Delete(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (1_i64..40_000).prop_map(Step::Sync),
        1 => Just(Step::Restart),
        1 => (1_i64..60).prop_map(Step::Delete),
    ]
}

fn spec() -> impl Strategy<Value = Value> {
    let policy = prop::sample::select(vec!["Always", "OnFailure", "Never"]);
    let image = prop::sample::select(vec!["nginx:1", "nginx:broken"]);
    (policy, image, any::<bool>(), any::<bool>()).prop_map(|(policy, image, init, sidecar)| {
        let mut before = Vec::new();
        if init {
            before.push(json!({"name": "setup", "image": "setup:1"}));
        }
        if sidecar {
            before.push(json!({"name": "proxy", "image": "proxy:1", "restartPolicy": "Always"}));
        }
        let probe = json!({"periodSeconds": 3, "initialDelaySeconds": 1});
        let env = json!([{"configMapRef": {"name": "none", "optional": sidecar}}]);
        let containers = json!([
            {"name": "web", "image": image, "readinessProbe": probe, "startupProbe": probe},
            {"name": "log", "image": "log:1", "envFrom": env},
        ]);
        json!({"restartPolicy": policy, "initContainers": before, "containers": containers})
    })
}

fn annotations() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    prop::sample::subsequence(
        vec![
            ("crash-after", "7"),
            ("exit-code", "0"),
            ("flap-seconds", "5"),
            ("ready", "never"),
            ("terminate-seconds", "20"),
            ("startup", "never"),
            ("oom-after", "9"),
        ],
        0..=7,
    )
}

fn restarts(status: &wire::PodStatus) -> i32 {
    let all = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    all.map(|container| container.restart_count).sum()
}

fn is_over(status: &wire::PodStatus) -> bool {
    matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"))
}

proptest! {
    #[test]
    fn restarts_do_not_decrease_terminations_are_final_and_deletions_complete(
        spec in spec(),
        annotations in annotations(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut pod = TestPod::of(&spec).annotated(&annotations);
        let mut now = Timestamp::from_secs(START);
        pod.sync(now);
        let mut deadline = None;
        for step in steps {
            let before = pod.status.clone();
            match step {
                Step::Sync(millis) => now = Timestamp::from_nanos(now.as_nanos() + millis * 1_000_000),
                Step::Restart => drop(pod.restarted()),
                Step::Delete(grace) if deadline.is_none() && !is_over(&before) => {
                    let at = now.as_nanos() / 1_000_000_000 - START;
                    pod.deleted(at, grace);
                    deadline = Some(Timestamp::from_secs(START + at + grace));
                }
                Step::Delete(_) => {}
            }
            pod.sync(now);
            let (shown, ready) = (shown(&pod.status), pod.condition("Ready").status == "True");
            prop_assert!(pod.wake.is_none_or(|wake| wake > now), "{shown} is due again at once");
            prop_assert!(restarts(&pod.status) >= restarts(&before), "{shown} has fewer restarts than before");
            prop_assert!(!is_over(&before) || is_over(&pod.status), "{shown} runs again");
            prop_assert!(!(is_over(&pod.status) && ready), "{shown} is over and ready");
            prop_assert!(pod.completion != Completion::Active || pod.wake.is_some() || pod.condition("ContainersReady").status == "True" || shown.contains("running"),
                "{shown} waits for nothing");
            if deadline.is_some_and(|deadline| now >= deadline) {
                prop_assert_eq!(pod.completion, Completion::Remove, "{} is not removed after its deletion", shown);
            }
        }
    }
}
