//! Missing objects, nodes and schedulers. The messages are those of a real kubelet, kube-scheduler and API server of
//! Kubernetes 1.37.

use gantry_json::{Value, json};

use super::world::{World, at, container, new_pod, node, noon_plus, pod, rolling, set};

/// The blocking causes, and the advice.
fn causes_and_advice(world: &World) -> (String, Vec<String>) {
    let report = world.report();
    assert_eq!(report.verdict.as_str(), "stuck", "{}", world.why());
    let advice = report.unblock.iter().map(ToString::to_string).collect();
    (report.causes[0].reason.summary_line(world.now), advice)
}

fn waits(reason: &str, message: &str) -> World {
    rolling(new_pod(&json!({"waiting": {"reason": reason, "message": message}})))
}

#[test]
fn missing_objects_of_a_container_are_named_with_the_command_that_creates_them() {
    for (message, sentence, advice) in [
        (
            "configmap \"none\" not found",
            "ConfigMap none does not exist",
            "create ConfigMap none, or correct its name in the template: kubectl create configmap none --from-literal=KEY=VALUE",
        ),
        (
            "secret \"none\" not found",
            "Secret none does not exist",
            "create Secret none, or correct its name in the template: kubectl create secret generic none --from-literal=KEY=VALUE",
        ),
        (
            "couldn't find key nokey in ConfigMap default/there",
            "key nokey of ConfigMap there does not exist",
            "add the key nokey to ConfigMap there, or correct the template",
        ),
        (
            "couldn't find key nokey in Secret default/sec",
            "key nokey of Secret sec does not exist",
            "add the key nokey to Secret sec, or correct the template",
        ),
    ] {
        let world = waits("CreateContainerConfigError", message);
        let (cause, unblock) = causes_and_advice(&world);
        assert_eq!(
            cause,
            format!("container main cannot be created: {sentence} (CreateContainerConfigError)")
        );
        assert_eq!(unblock[0], advice);
    }
    let details = &waits("CreateContainerConfigError", "configmap \"none\" not found").json()["causes"][0];
    assert_eq!(
        details["details"],
        json!({"reason": "CreateContainerConfigError", "missing": {"kind": "ConfigMap", "name": "none", "key": null}})
    );
}

#[test]
fn missing_objects_of_a_volume_are_named() {
    for (message, sentence) in [
        ("MountVolume.SetUp failed for volume \"v\" : configmap \"none\" not found", "ConfigMap none"),
        ("MountVolume.SetUp failed for volume \"v\" : secret \"none\" not found", "Secret none"),
        (
            "MountVolume.SetUp failed for volume \"v\" : configmap references non-existent config key: nokey",
            "key nokey of the ConfigMap",
        ),
        (
            "MountVolume.SetUp failed for volume \"v\" : references non-existent secret key: nokey",
            "key nokey of the Secret",
        ),
        (
            "MountVolume.SetUp failed for volume \"kube-api-access-4lhb5\" : failed to fetch token: serviceaccounts \"soon-gone\" not found",
            "ServiceAccount soon-gone",
        ),
        (
            "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: error processing PVC default/none: failed to fetch PVC from API server: persistentvolumeclaims \"none\" not found",
            "PersistentVolumeClaim none",
        ),
    ] {
        let world = waits("ContainerCreating", "").warning("web-2-a", "FailedMount", message);
        let (cause, _) = causes_and_advice(&world);
        assert_eq!(cause, format!("the node cannot set up the pod: {sentence} does not exist (FailedMount)"));
    }
}

#[test]
fn an_invalid_image_name_is_reported_as_such() {
    let message = "Failed to apply default image tag \"nginx:2\": couldn't parse image name \"nginx:2\": invalid reference format";
    let (cause, unblock) = causes_and_advice(&waits("InvalidImageName", message));
    assert_eq!(cause, "nginx:2 is not a valid image name (container main)");
    assert_eq!(unblock[0], "use another image: gantry set image deployment/web main=IMAGE");
    let message = "Container image \"nginx:2\" is not present with pull policy of Never";
    let (cause, _) = causes_and_advice(&waits("ErrImageNeverPull", message));
    assert_eq!(cause, "image nginx:2 is not on the node and may not be pulled (container main)");
}

fn unscheduled(message: &str) -> World {
    let mut pod = pod("web-2", "web-2-a", 0);
    pod["spec"]["nodeName"] = json!(null);
    pod["status"]["conditions"] =
        json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]);
    rolling(pod)
}

#[test]
fn cordoned_nodes_are_to_be_uncordoned() {
    let world = unscheduled(
        "0/2 nodes are available: 2 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    );
    let (cause, unblock) = causes_and_advice(&world);
    assert_eq!(cause, "no node fits the pod: 2 nodes cordoned");
    assert_eq!(unblock[0], "uncordon the node: kubectl uncordon NODE", "nodes may not be readable");
    let named = world.but(|world| {
        world.nodes = vec![node("a"), node("b"), node("c")];
        world.nodes[0]["spec"]["unschedulable"] = json!(true);
        world.nodes[2]["spec"]["unschedulable"] = json!(true);
    });
    assert_eq!(causes_and_advice(&named).1[0], "uncordon the nodes: kubectl uncordon a c");
    assert_eq!(
        named.json()["causes"][0]["details"]["obstacles"],
        json!([{"code": "Cordoned", "nodes": 2, "detail": null}])
    );
}

#[test]
fn a_claim_that_is_missing_or_unbound_is_reported_apart_from_full_nodes() {
    let (cause, unblock) = causes_and_advice(&unscheduled(
        "0/1 nodes are available: persistentvolumeclaim \"none\" not found. not found",
    ));
    assert_eq!(cause, "no node fits the pod: PersistentVolumeClaim none does not exist");
    assert_eq!(unblock[0], "create PersistentVolumeClaim none, or correct claimName in the template");
    let unbound = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
    let (cause, unblock) = causes_and_advice(&unscheduled(unbound));
    assert_eq!(cause, "no node fits the pod: a PersistentVolumeClaim is not bound to a volume");
    assert!(unblock[0].ends_with("gantry describe persistentvolumeclaims"), "{unblock:?}");
}

#[test]
fn a_scheduler_of_another_name_is_named() {
    let mut pod = pod("web-2", "web-2-a", 0);
    pod["spec"]["nodeName"] = json!(null);
    pod["spec"]["schedulerName"] = json!("mine");
    let (cause, unblock) = causes_and_advice(&rolling(pod.clone()));
    assert_eq!(cause, "no scheduler named mine has processed it for 1m");
    assert_eq!(unblock[0], "start the scheduler mine, or correct spec.template.spec.schedulerName");
    pod["spec"]["schedulerName"] = json!("default-scheduler");
    assert_eq!(causes_and_advice(&rolling(pod)).0, "no scheduler has processed it for 1m");
}

/// R7.4: the set's condition has the API's message.
#[test]
fn a_missing_service_account_is_to_be_created() {
    let message = "pods \"web-2-\" is forbidden: error looking up service account default/nope: serviceaccount \"nope\" not found";
    let world = rolling(json!(null)).but(|world| {
        world.pods.pop();
        world.sets[1]["status"] = json!({"observedGeneration": 1, "replicas": 0, "conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message,
                "lastTransitionTime": at(1)}]});
    });
    let (cause, unblock) = causes_and_advice(&world);
    assert_eq!(cause, "pods cannot be created: service account nope does not exist");
    assert_eq!(
        unblock[0],
        "create service account nope, or correct its name in the template: kubectl create serviceaccount nope"
    );
    assert_eq!(world.codes()[0], "blocks ServiceAccount");
}

fn limited(state: &Value, last: &Value) -> Value {
    let mut pod = new_pod(&json!({}));
    pod["spec"]["containers"][0]["resources"] = json!({"limits": {"memory": "64Mi"}});
    let mut main = container(state, 4);
    main["lastState"] = json!({"terminated": last});
    pod["status"]["containerStatuses"] = json!([main]);
    pod
}

#[test]
fn a_kill_with_a_memory_limit_suggests_a_higher_limit() {
    let backoff = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let killed = json!({"exitCode": 137, "reason": "Error", "finishedAt": at(40)});
    let (cause, unblock) = causes_and_advice(&rolling(limited(&backoff, &killed)));
    assert_eq!(
        cause,
        "container main is in a crash loop: 4 restarts, last with exit code 137; it was killed, probably for exceeding its memory limit of 64Mi"
    );
    assert_eq!(unblock[0], "raise the memory limit of container main (64Mi), or make it use less");
    let failed = json!({"exitCode": 1, "reason": "Error", "finishedAt": at(40)});
    let (cause, _) = causes_and_advice(&rolling(limited(&backoff, &failed)));
    assert!(cause.ends_with("last with exit code 1"), "{cause}");
    let out_of_memory = json!({"exitCode": 137, "reason": "OOMKilled", "finishedAt": at(40)});
    let (cause, _) = causes_and_advice(&rolling(limited(&backoff, &out_of_memory)));
    assert_eq!(
        cause,
        "container main is killed for using too much memory (OOMKilled, limit 64Mi): 4 restarts"
    );
}

fn never_started() -> Value {
    let mut pod = new_pod(&json!({"running": {"startedAt": at(2)}}));
    pod["spec"]["containers"][0]["startupProbe"] =
        json!({"httpGet": {"path": "/x", "port": 81}, "periodSeconds": 5, "failureThreshold": 4});
    pod["status"]["phase"] = json!("Running");
    pod
}

#[test]
fn a_startup_probe_that_never_passes_blocks_once_its_time_is_over() {
    let message = "Startup probe failed: Get \"http://10.244.0.29:81/x\": dial tcp 10.244.0.29:81: connect: connection refused";
    let world = rolling(never_started()).warning("web-2-a", "Unhealthy", message);
    assert_eq!(causes_and_advice(&world).0, "the startup probe of container main fails (HTTP GET :81/x)");
    let silent = rolling(never_started());
    assert_eq!(
        silent.codes()[0],
        "blocks StartupProbe",
        "the twenty seconds have passed, with or without an event"
    );
    let early = world.but(|world| world.now = noon_plus(15));
    assert_eq!(early.report().verdict.as_str(), "moving");
    assert_eq!(early.codes()[0], "waits StartupProbe", "the probe has failed, and five seconds are left");
    let fresh = rolling(never_started()).but(|world| world.now = noon_plus(15));
    assert_eq!(fresh.codes()[0], "waits Starting", "the probe has not failed yet");
}

/// As a kubelet reports it: the container exits with code 0 when it is stopped.
#[test]
fn a_container_that_is_restarted_by_its_startup_probe_is_reported_by_the_probe() {
    let mut pod = never_started();
    let mut main = container(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), 5);
    main["lastState"] = json!({"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": at(43)}});
    pod["status"]["containerStatuses"] = json!([main]);
    let world = rolling(pod).warning("web-2-a", "Unhealthy", "Startup probe failed: ");
    assert_eq!(causes_and_advice(&world).0, "the startup probe of container main fails (HTTP GET :81/x)");
}

#[test]
fn a_node_that_is_not_ready_is_the_reason_for_its_pods() {
    let mut pod = new_pod(&json!({"running": {"startedAt": at(2)}}));
    pod["status"]["phase"] = json!("Running");
    pod["status"]["containerStatuses"][0]["ready"] = json!(true);
    let by_event = rolling(pod.clone()).warning("web-2-a", "NodeNotReady", "Node is not ready");
    assert_eq!(causes_and_advice(&by_event).0, "node node-1 is not ready");
    let by_node = rolling(pod).but(|world| {
        world.nodes = vec![node("node-1")];
        world.nodes[0]["status"]["conditions"] = json!([{"type": "Ready", "status": "Unknown"}]);
    });
    assert_eq!(causes_and_advice(&by_node).0, "node node-1 is not ready");
}

#[test]
fn a_deletion_blocked_by_a_finalizer_is_stuck_and_names_it() {
    let held = rolling(new_pod(&json!({"waiting": {"reason": "ErrImagePull"}}))).but(|world| {
        world.deployment["metadata"]["deletionTimestamp"] = json!(at(10));
        world.deployment["metadata"]["finalizers"] = json!(["example.com/billing"]);
    });
    let (cause, unblock) = causes_and_advice(&held);
    assert_eq!(cause, "the Deployment is being deleted, held for 50s by finalizer example.com/billing");
    assert_eq!(
        unblock,
        [
            "check that the controller that removes the finalizer example.com/billing is running",
            "or, if that controller no longer exists, remove the finalizers: gantry patch deployment/web --type=merge -p '{\"metadata\":{\"finalizers\":null}}'",
        ],
        "there is no advice about images or a rollback"
    );
    let fresh = held.but(|world| world.now = noon_plus(20));
    assert_eq!(fresh.report().verdict.as_str(), "moving", "the controller needs some time");
}

/// The garbage collector waits for the pods, and a pod has a finalizer.
#[test]
fn a_foreground_deletion_names_the_pod_with_a_finalizer() {
    let mut leaving = new_pod(&json!({"running": {"startedAt": at(2)}}));
    leaving["metadata"]["deletionTimestamp"] = json!(at(5));
    leaving["metadata"]["finalizers"] = json!(["example.com/backup"]);
    let world = rolling(leaving).but(|world| {
        world.deployment["metadata"]["deletionTimestamp"] = json!(at(5));
        world.deployment["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
        world.sets = vec![set("web-2", 2, 1, 0)];
    });
    let report = world.report();
    let held = report.causes.iter().find(|cause| cause.reason.code() == "Terminating").unwrap();
    assert_eq!(held.severity.as_str(), "blocks");
    assert_eq!(report.verdict.as_str(), "stuck");
    assert!(world.why().contains("gantry patch pod/web-2-a --type=merge"), "{}", world.why());
}
