//! Stories of pods whose resources are changed while they run.

use std::time::Duration;

use gantry_json::{Value, json};

use super::super::{
    ContainerAmounts, FoundContainer, FoundPod, NodeCapacity, PodRun, ResourceCapacity, RuntimeAction,
    RuntimeReport,
};
use super::real::{RealPod, at, identity, web};

const BILLION: i128 = 1_000_000_000;

/// A running pod with one container that has these resources and this resize policy.
fn running(resources: &Value, policy: &Value) -> RealPod {
    let mut web = web();
    (web["resources"], web["resizePolicy"]) = (resources.clone(), policy.clone());
    let mut pod = RealPod::of(&json!({"containers": [web]}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0);
    pod
}

/// A node with four CPUs, of which other pods use two.
fn four_cpus() -> NodeCapacity {
    NodeCapacity {
        cpu: ResourceCapacity { allocatable: 4 * BILLION, used: 2 * BILLION },
        memory: ResourceCapacity { allocatable: 8192 * BILLION, used: 0 },
    }
}

fn cpu(amount: &str) -> Value {
    json!({"requests": {"cpu": amount}})
}

fn amounts(resources: &Value) -> ContainerAmounts {
    ContainerAmounts::parse(gantry_json::from_value(resources.clone()).ok().as_ref())
}

impl RealPod {
    fn resize(&mut self, resources: &Value) -> &mut Self {
        self.object["spec"]["containers"][0]["resources"] = resources.clone();
        self.sync();
        self
    }

    fn resized(&mut self, result: Result<(), String>) -> &mut Self {
        let id = identity("web", 0).id;
        self.report(RuntimeReport::Resized { container: "web".to_owned(), id, result })
    }

    /// The allocated and the actual CPUs, and the conditions about changes.
    fn cpus(&self) -> (String, String, Vec<String>) {
        let status = &self.status.container_statuses.as_ref().unwrap()[0];
        let cpu = |list: &Option<std::collections::BTreeMap<String, _>>| {
            let amount: &k8s_openapi::apimachinery::pkg::api::resource::Quantity =
                &list.as_ref().unwrap()["cpu"];
            amount.0.clone()
        };
        let conditions = self.status.conditions.iter().flatten();
        let conditions = conditions.filter(|it| it.type_.starts_with("PodResize"));
        let shown = |it: &k8s_openapi::api::core::v1::PodCondition| {
            format!("{} {}", it.type_, it.reason.as_deref().unwrap_or_default()).trim().to_owned()
        };
        let actual = cpu(&status.resources.as_ref().unwrap().requests);
        (cpu(&status.allocated_resources), actual, conditions.map(shown).collect())
    }
}

fn change(resources: &Value) -> RuntimeAction {
    RuntimeAction::ResizeContainer {
        container: "web".to_owned(),
        id: identity("web", 0).id,
        amounts: amounts(resources),
    }
}

#[test]
fn the_resources_of_a_running_container_are_changed() {
    let mut pod = running(&cpu("1"), &json!([]));
    pod.capacity = Some(four_cpus());
    pod.resize(&cpu("2"));
    assert_eq!(pod.actions, [change(&cpu("2"))]);
    assert_eq!(pod.cpus(), ("2".to_owned(), "1".to_owned(), vec!["PodResizeInProgress".to_owned()]));
    pod.resized(Ok(()));
    assert_eq!(pod.cpus(), ("2".to_owned(), "2".to_owned(), vec![]));
    assert_eq!((pod.actions.len(), pod.wake), (0, None));
    let events: Vec<_> = pod.events.iter().filter(|event| event.starts_with("Resize")).collect();
    assert_eq!(
        events,
        [
            "ResizeStarted Pod resize started: \
             {\"containers\":[{\"name\":\"web\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],\"generation\":0}",
            "ResizeCompleted Pod resize completed: \
             {\"containers\":[{\"name\":\"web\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],\"generation\":0}",
        ]
    );
}

#[test]
fn a_container_is_restarted_for_a_resize_if_its_policy_requires_it() {
    let mut pod = running(&cpu("1"), &json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]));
    pod.object["spec"]["restartPolicy"] = json!("OnFailure");
    pod.resize(&cpu("2"));
    let grace = Duration::from_secs(30);
    assert_eq!(pod.actions, [RuntimeAction::StopContainer { container: "web".to_owned(), grace }]);
    assert!(pod.events.contains(&"Killing Container web resize requires restart".to_owned()));
    pod.after(1).exit("web", 0, 0).start("web", 1);
    assert_eq!(pod.cpus(), ("2".to_owned(), "2".to_owned(), vec![]));
    assert_eq!(pod.shown(), "Running up initialized ready web:running*1");
}

#[test]
fn resources_beyond_the_capacity_of_the_node_are_not_allocated() {
    let mut pod = running(&cpu("1"), &json!([]));
    pod.capacity = Some(four_cpus());
    pod.resize(&cpu("3"));
    assert_eq!(pod.cpus(), ("1".to_owned(), "1".to_owned(), vec!["PodResizePending Deferred".to_owned()]));
    let condition = pod.status.conditions.iter().flatten().last().unwrap();
    let message = "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000";
    assert_eq!(condition.message.as_deref(), Some(message));
    assert_eq!(
        pod.events.last().unwrap(),
        "ResizeDeferred Pod resize OutOfcpu: {\"containers\":[{\"name\":\"web\",\"resources\":\
         {\"requests\":{\"cpu\":\"3\"}}}],\"generation\":0,\"error\":\"Node didn't have enough resource: cpu, \
         requested: 3000, used: 2000, capacity: 4000\"}"
    );
    assert!(pod.wake.is_some(), "other pods may end");
    pod.capacity.as_mut().unwrap().cpu.used = BILLION;
    pod.after(15);
    assert_eq!(pod.actions, [change(&cpu("3"))]);
}

#[test]
fn a_change_that_fails_is_reported_and_repeated() {
    let mut pod = running(&cpu("1"), &json!([]));
    pod.resize(&cpu("2")).resized(Err("busy".to_owned()));
    assert_eq!(pod.cpus(), ("2".to_owned(), "1".to_owned(), vec!["PodResizeInProgress Error".to_owned()]));
    assert_eq!(pod.actions, []);
    pod.after(15);
    assert_eq!(pod.actions, [change(&cpu("2"))]);
}

#[test]
fn a_restarted_agent_carries_out_the_change_that_was_allocated() {
    let mut pod = running(&cpu("1"), &json!([]));
    pod.resize(&cpu("2"));
    let found = FoundContainer {
        name: "web".to_owned(),
        attempt: 0,
        identity: identity("web", 0),
        started: at(0),
        exit: None,
    };
    let found = FoundPod { sandboxes: 1, is_ready: true, containers: vec![found] };
    pod.run = PodRun::resume(&pod.pod(), &pod.status, &found, at(5));
    pod.after(5);
    assert_eq!(pod.actions, [change(&cpu("2"))]);
}

/// As recorded from a kubelet 1.37.
#[test]
fn the_resources_of_a_pod_are_those_of_concurrent_containers() {
    let container =
        |name: &str, resources: Value| json!({"name": name, "image": "nginx:1", "resources": resources});
    let init = container("init", json!({"requests": {"cpu": "500m"}}));
    let first =
        json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "64Mi"}});
    let pod = RealPod::of(&json!({
        "initContainers": [init], "containers": [container("a", first), container("b", json!({}))],
    }));
    assert_eq!(
        gantry_json::to_value(&pod.status.resources),
        json!({"limits": {"cpu": "200m", "memory": "64Mi"}, "requests": {"cpu": "500m", "memory": "64Mi"}})
    );
    assert_eq!(
        gantry_json::to_value(&pod.status.allocated_resources),
        json!({"cpu": "500m", "memory": "64Mi"})
    );
    let without = RealPod::of(&json!({"containers": [web()]}));
    assert_eq!(gantry_json::to_value(&without.status.resources), json!({}));
    assert_eq!(without.status.allocated_resources, None);
}
