//! Advice that can be copied: it acts on the cluster in question, and works on its nodes.

use gantry_json::{Value, json};
use gantry_view::why::CommandFlags;

use super::world::{World, at, container, new_pod, node, pod, rolling, serving, set};

fn crashing(restarts: i32) -> Value {
    let mut main = container(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), restarts);
    main["lastState"] = json!({"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": at(40)}});
    main
}

fn crash_loop() -> World {
    let mut pod = new_pod(&json!({}));
    pod["status"]["containerStatuses"] = json!([crashing(5)]);
    rolling(pod)
}

fn advice(world: &World) -> Vec<String> {
    world.report().unblock.iter().map(ToString::to_string).collect()
}

#[test]
fn every_command_carries_the_flags_that_were_given() {
    let args = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    let world = crash_loop().but(|world| {
        world.flags = CommandFlags {
            gantry: args(&["-n", "w3", "--context", "my cluster"]),
            kubectl: args(&["-n", "w3", "--kubeconfig", "/own"]),
        };
    });
    assert_eq!(
        advice(&world),
        [
            "show the last log: kubectl logs web-2-a -c main --previous -n w3 --kubeconfig /own",
            "or go back to revision 1: gantry rollout undo deployment/web -n w3 --context 'my cluster'",
        ]
    );
    let paused = world.but(|world| world.deployment["spec"]["paused"] = json!(true));
    assert_eq!(
        advice(&paused)[0],
        "resume it: gantry rollout resume deployment/web -n w3 --context 'my cluster'"
    );
}

#[test]
fn logs_are_not_suggested_on_simulated_nodes() {
    let simulations: [fn(&mut Value); 3] = [
        |node| node["metadata"]["labels"] = json!({"sim.gantry.dev/simulated": "true"}),
        |node| node["status"]["nodeInfo"]["containerRuntimeVersion"] = json!("simulated://0.1.0"),
        |node| node["metadata"]["annotations"] = json!({"kwok.x-k8s.io/node": "fake"}),
    ];
    for simulate in simulations {
        let world = crash_loop().but(|world| {
            world.nodes = vec![node("node-1")];
            simulate(&mut world.nodes[0]);
        });
        let describe = advice(&world).join("\n");
        assert!(!describe.contains("kubectl logs") && describe.contains("sim.gantry.dev/"), "{describe}");
    }
    let real = crash_loop().but(|world| world.nodes = vec![node("node-1")]);
    assert!(advice(&real)[0].contains("kubectl logs"), "{:?}", advice(&real));
}

/// Revisions 2 and 3 are broken: revision 1 has the available pods.
#[test]
fn undo_is_suggested_to_the_revision_with_available_pods() {
    let world = crash_loop().but(|world| {
        let mut broken = set("web-0", 2, 0, 0);
        broken["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:1.5");
        world.sets.push(broken);
        world.sets[1]["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!("3");
    });
    assert_eq!(
        advice(&world)[1],
        "or go back to revision 1: gantry rollout undo deployment/web --to-revision=1"
    );
}

#[test]
fn a_first_revision_cannot_be_undone() {
    let world = crash_loop().but(|world| {
        world.sets.remove(0);
    });
    assert!(!advice(&world).iter().any(|advice| advice.contains("undo")), "{:?}", advice(&world));
}

/// Revision 2 is rolled out, and one of its three pods has crashed since.
fn broken_later(restarts: i32) -> World {
    crash_loop().but(|world| {
        world.sets = vec![set("web-1", 1, 0, 0), set("web-2", 2, 3, 2)];
        world.pods = (1..=2).map(|n| serving(pod("web-2", &format!("web-2-{n}"), n), n + 10)).collect();
        let mut broken = new_pod(&json!({}));
        broken["status"]["containerStatuses"] = json!([crashing(restarts)]);
        world.pods.push(broken);
        let status = &mut world.deployment["status"];
        status["replicas"] = json!(3);
        status["updatedReplicas"] = json!(3);
        status["availableReplicas"] = json!(2);
        status["conditions"][1]["reason"] = json!("NewReplicaSetAvailable");
    })
}

#[test]
fn a_revision_that_crashes_after_it_was_rolled_out_can_be_undone() {
    let world = broken_later(5);
    assert_eq!(
        world.report().headline,
        "revision 2 was rolled out, but only 2 of 3 pods are available now; 1 pod: container main is in a crash loop: 5 restarts, last with exit code 3"
    );
    assert_eq!(advice(&world)[1], "or go back to revision 1: gantry rollout undo deployment/web");
    let none = broken_later(5).but(|world| {
        world.sets[1] = set("web-2", 2, 3, 0);
        world.deployment["status"]["availableReplicas"] = json!(0);
    });
    let headline = none.report().headline;
    assert!(
        headline.starts_with("revision 2 was rolled out, but none of its 3 pods is available"),
        "{headline}"
    );
    let report = world.json();
    assert_eq!((&report["verdict"], &report["rolledOut"]), (&json!("stuck"), &json!(true)));
    assert!(world.why().contains("Deadline  not running, the rollout is complete"), "{}", world.why());
}

/// Without a readiness probe a pod is ready whenever its container runs, between two crashes.
#[test]
fn pods_that_are_ready_between_crashes_are_done_with_a_note() {
    let world = broken_later(5).but(|world| {
        let mut main = crashing(5);
        main["ready"] = json!(true);
        main["state"] = json!({"running": {"startedAt": at(45)}});
        world.pods[2] = serving(world.pods[2].clone(), 45);
        world.pods[2]["status"]["containerStatuses"] = json!([main]);
        world.sets[1] = set("web-2", 2, 3, 3);
        world.deployment["status"]["availableReplicas"] = json!(3);
    });
    let report = world.report();
    assert_eq!(report.verdict.as_str(), "done", "{}", world.why());
    assert_eq!(
        report.headline,
        "all 3 pods of revision 2 are available, but 1 pod: container main is in a crash loop: 5 restarts, last with exit code 3"
    );
    assert!(advice(&world)[1].starts_with("or go back to revision 1"), "{:?}", advice(&world));
    let calm = world.but(|world| world.now = super::world::noon_plus(700));
    assert_eq!(
        calm.report().headline,
        "all 3 pods of revision 2 are available",
        "the last crash was long ago"
    );
}
