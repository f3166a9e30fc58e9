//! What holds for every life, however it goes and whenever it is looked at.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Happening {
    /// Time passes, in milliseconds, and the pod is looked at whether or not it asked to be.
    Look(i64),
    /// The node's process is replaced.
    Restart,
    /// Somebody deletes the pod, with so many seconds of patience.
    Delete(i64),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        8 => (1_i64..40_000).prop_map(Happening::Look),
        1 => Just(Happening::Restart),
        1 => (1_i64..60).prop_map(Happening::Delete),
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
    fn restarts_only_grow_ends_are_final_and_a_deletion_is_heard(
        spec in spec(),
        annotations in annotations(),
        happenings in prop::collection::vec(happening(), 1..40),
    ) {
        let mut life = Life::of(&spec).annotated(&annotations);
        let mut now = Timestamp::from_secs(START);
        life.look(now);
        let mut deadline = None;
        for happening in happenings {
            let before = life.status.clone();
            match happening {
                Happening::Look(millis) => now = Timestamp::from_nanos(now.as_nanos() + millis * 1_000_000),
                Happening::Restart => drop(life.restarted()),
                Happening::Delete(grace) if deadline.is_none() && !is_over(&before) => {
                    let at = now.as_nanos() / 1_000_000_000 - START;
                    life.deleted(at, grace);
                    deadline = Some(Timestamp::from_secs(START + at + grace));
                }
                Happening::Delete(_) => {}
            }
            life.look(now);
            let (shown, ready) = (shown(&life.status), life.condition("Ready").status == "True");
            prop_assert!(life.wake.is_none_or(|wake| wake > now), "{shown} is to be looked at again at once");
            prop_assert!(restarts(&life.status) >= restarts(&before), "{shown} has fewer restarts than before");
            prop_assert!(!is_over(&before) || is_over(&life.status), "{shown} lives again");
            prop_assert!(!(is_over(&life.status) && ready), "{shown} is over and ready");
            prop_assert!(life.end != End::NotYet || life.wake.is_some() || life.condition("ContainersReady").status == "True" || shown.contains("running"),
                "{shown} waits for nothing");
            if deadline.is_some_and(|deadline| now >= deadline) {
                prop_assert_eq!(life.end, End::Remove, "{} outlives its deletion", shown);
            }
        }
    }
}
