//! Stories of pods of a container runtime: the actions that it gets, and the status after its reports.

use std::collections::BTreeSet;
use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;

use super::super::{
    Completion, ContainerAmounts, ContainerExit, ContainerIdentity, ContainerProbe, Eviction, FoundContainer,
    FoundPod, NodeCapacity, NodeContext, Pod, PodRun, ProbeResult, References, ResourceCapacity,
    RuntimeAction, RuntimeReport, StartFailure, StartStep, StartedContainer, sync,
};
use super::{START, shown};

/// A pod on a node whose container runtime is played by a test.
pub(super) struct RealPod {
    pub(super) object: Value,
    pub(super) run: PodRun,
    pub(super) status: wire::PodStatus,
    pub(super) actions: Vec<RuntimeAction>,
    pub(super) events: Vec<String>,
    pub(super) wake: Option<Timestamp>,
    pub(super) completion: Completion,
    pub(super) seconds: i64,
    pub(super) capacity: Option<NodeCapacity>,
}

impl RealPod {
    pub(super) fn of(spec: &Value) -> Self {
        let object = json!({
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "u1"},
            "spec": spec,
        });
        let pod = Pod::parse_real(&gantry_json::from_value(object.clone()).unwrap());
        let run = PodRun::resume(&pod, &wire::PodStatus::default(), &FoundPod::default(), at(0));
        let mut real = Self {
            object,
            run,
            status: wire::PodStatus::default(),
            actions: Vec::new(),
            events: Vec::new(),
            wake: None,
            completion: Completion::Active,
            seconds: 0,
            capacity: None,
        };
        real.sync();
        real
    }

    pub(super) fn pod(&self) -> Pod {
        Pod::parse_real(&gantry_json::from_value(self.object.clone()).unwrap())
    }

    pub(super) fn sync(&mut self) {
        let node = NodeContext {
            address: "192.0.2.1",
            pod_address: "10.0.0.7",
            images: &BTreeSet::new(),
            references: &References::default(),
            capacity: self.capacity,
        };
        let synced = sync(&self.pod(), self.run.clone(), &node, at(self.seconds));
        self.events
            .extend(synced.events.iter().map(|it| format!("{} {}", it.event.reason, it.event.message)));
        self.actions = synced.actions;
        (self.run, self.status) = (synced.run, synced.status);
        (self.wake, self.completion) = (synced.wake, synced.completion);
    }

    /// Applies a report, and syncs the pod.
    pub(super) fn report(&mut self, report: RuntimeReport) -> &mut Self {
        let what = format!("{report:?}");
        assert!(self.run.receive(&self.pod(), report, at(self.seconds)), "{what} changes nothing");
        self.sync();
        self
    }

    pub(super) fn after(&mut self, seconds: i64) -> &mut Self {
        self.seconds += seconds;
        self.sync();
        self
    }

    pub(super) fn deleted(&mut self, grace: i64) -> &mut Self {
        self.object["metadata"]["deletionTimestamp"] = json!(at(self.seconds + grace).to_string());
        self.object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        self.sync();
        self
    }

    /// Reports a container as started, with this number of its start in its ID.
    pub(super) fn start(&mut self, container: &str, attempt: i32) -> &mut Self {
        assert_eq!(self.actions, [RuntimeAction::InspectImage { container: container.to_owned() }]);
        self.report(RuntimeReport::Image { container: container.to_owned(), present: true });
        assert_eq!(
            self.actions,
            [RuntimeAction::StartContainer {
                container: container.to_owned(),
                attempt,
                amounts: self.allocated(container)
            }]
        );
        let started = StartedContainer { identity: identity(container, attempt), since: at(self.seconds) };
        self.report(RuntimeReport::Started { container: container.to_owned(), result: Ok(started) })
    }

    /// Returns the reported allocated resources of a container, with its limits.
    fn allocated(&self, container: &str) -> ContainerAmounts {
        let status =
            super::super::status::container_statuses(&self.status).find(|it| it.name == container).unwrap();
        let limits = status.resources.clone().unwrap().limits;
        let requests = status.allocated_resources.clone();
        ContainerAmounts::parse(Some(&wire::ResourceRequirements { claims: None, limits, requests }))
    }

    pub(super) fn exit(&mut self, container: &str, attempt: i32, code: i32) -> &mut Self {
        let exit = exit(container, attempt, code, self.seconds);
        self.report(RuntimeReport::Exited { container: container.to_owned(), exit })
    }

    pub(super) fn probed(&mut self, probe: ContainerProbe, result: ProbeResult) -> &mut Self {
        let id = identity("web", 0).id;
        self.report(RuntimeReport::Probed { container: "web".to_owned(), id, probe, result })
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.status)
    }
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_secs(START + seconds)
}

pub(super) fn identity(container: &str, attempt: i32) -> ContainerIdentity {
    ContainerIdentity {
        id: format!("containerd://{container}-{attempt}"),
        image: "docker.io/library/nginx:1".to_owned(),
        image_id: "sha256:abc".to_owned(),
    }
}

fn exit(container: &str, attempt: i32, code: i32, seconds: i64) -> ContainerExit {
    ContainerExit {
        id: identity(container, attempt).id,
        code,
        reason: if code == 0 { "Completed" } else { "Error" }.to_owned(),
        message: Some("bye".to_owned()),
        started: at(seconds - 1),
        finished: at(seconds),
    }
}

pub(super) fn web() -> Value {
    json!({"name": "web", "image": "nginx:1"})
}

#[test]
fn a_pod_is_started_step_by_step_and_removed_after_its_sandbox() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    assert_eq!(pod.actions, [RuntimeAction::CreateSandbox { attempt: 0 }]);
    assert_eq!(pod.shown(), "Pending initialized web:ContainerCreating");
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0);
    assert_eq!(pod.shown(), "Running up initialized ready web:running");
    let status = &pod.status.container_statuses.as_ref().unwrap()[0];
    assert_eq!(status.container_id.as_deref(), Some("containerd://web-0"));
    assert_eq!(status.image_id, "sha256:abc");

    pod.after(5).deleted(30);
    let grace = Duration::from_secs(30);
    assert_eq!(pod.actions, [RuntimeAction::StopContainer { container: "web".to_owned(), grace }]);
    pod.exit("web", 0, 0);
    assert_eq!((pod.actions.clone(), pod.completion), (vec![RuntimeAction::StopSandbox], Completion::Active));
    pod.report(RuntimeReport::SandboxStopped);
    assert_eq!(pod.completion, Completion::Remove);
    assert_eq!(
        pod.events,
        [
            "Pulled Container image \"nginx:1\" already present on machine and can be accessed by the pod",
            "Created Container created",
            "Started Container started",
            "Killing Stopping container web",
        ]
    );
}

#[test]
fn a_shorter_grace_period_hastens_the_stop() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0).deleted(30);
    pod.after(1).deleted(1);
    let grace = Duration::from_secs(1);
    assert_eq!(pod.actions, [RuntimeAction::StopContainer { container: "web".to_owned(), grace }]);
    pod.after(1);
    assert_eq!(pod.actions, []);
}

#[test]
fn a_crashed_container_is_restarted_with_backoff() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0);
    pod.after(2).exit("web", 0, 1);
    pod.start("web", 1);
    assert_eq!(pod.shown(), "Running up initialized ready web:running*1");
    let last = pod.status.container_statuses.as_ref().unwrap()[0].last_state.clone().unwrap();
    let last = last.terminated.unwrap();
    assert_eq!(last.container_id.as_deref(), Some("containerd://web-0"));
    assert_eq!(last.message.as_deref(), Some("bye"));

    pod.after(2).exit("web", 1, 1);
    assert_eq!((pod.actions.clone(), pod.wake), (vec![], Some(at(14))));
    assert_eq!(pod.shown(), "Running up initialized web:CrashLoopBackOff*1");
    pod.after(10).start("web", 2);
    assert_eq!(pod.shown(), "Running up initialized ready web:running*2");
}

#[test]
fn a_container_that_cannot_be_run_is_reported_as_such() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(())));
    pod.report(RuntimeReport::Image { container: "web".to_owned(), present: true });
    let step = StartStep::Start(identity("web", 0), Some(exit("web", 0, 128, 0)));
    let failure = StartFailure { step, message: "no such file".to_owned() };
    pod.report(RuntimeReport::Started { container: "web".to_owned(), result: Err(failure) });
    assert!(pod.events.contains(&"Failed Error: no such file".to_owned()), "{:?}", pod.events);
    pod.report(RuntimeReport::Image { container: "web".to_owned(), present: true });
    let failure = StartFailure { step: StartStep::Create, message: "no space left".to_owned() };
    pod.report(RuntimeReport::Started { container: "web".to_owned(), result: Err(failure) });
    assert_eq!(pod.shown(), "Running up initialized web:CreateContainerError");
    let last = pod.status.container_statuses.as_ref().unwrap()[0].last_state.clone().unwrap();
    assert_eq!(last.terminated.unwrap().exit_code, 128);
}

#[test]
fn a_failed_pull_has_the_message_of_the_runtime_and_is_repeated() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(())));
    pod.report(RuntimeReport::Image { container: "web".to_owned(), present: false });
    assert_eq!(pod.actions, [RuntimeAction::PullImage { container: "web".to_owned() }]);
    pod.report(RuntimeReport::Pulled { container: "web".to_owned(), result: Err("no such host".to_owned()) });
    let waiting = |pod: &RealPod| {
        let state = pod.status.container_statuses.as_ref().unwrap()[0].state.clone().unwrap();
        let waiting = state.waiting.unwrap();
        (waiting.reason.unwrap(), waiting.message.unwrap())
    };
    assert_eq!(waiting(&pod), ("ErrImagePull".to_owned(), "no such host".to_owned()));
    pod.after(1);
    let message = "Back-off pulling image \"nginx:1\": ErrImagePull: no such host".to_owned();
    assert_eq!(waiting(&pod), ("ImagePullBackOff".to_owned(), message));
    pod.after(9);
    assert_eq!(pod.actions, [RuntimeAction::PullImage { container: "web".to_owned() }]);
}

#[test]
fn a_pod_whose_pull_hangs_can_be_deleted() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(())));
    pod.report(RuntimeReport::Image { container: "web".to_owned(), present: false });
    pod.after(3600);
    assert_eq!(
        (pod.shown().as_str(), pod.actions.len()),
        ("Pending up initialized web:ContainerCreating", 0)
    );
    assert_eq!(pod.events, ["Pulling Pulling image \"nginx:1\""]);
    pod.deleted(30);
    assert_eq!(pod.actions, [RuntimeAction::StopSandbox]);
    pod.report(RuntimeReport::SandboxStopped);
    assert_eq!(pod.completion, Completion::Remove);
}

#[test]
fn probes_are_run_and_their_thresholds_count() {
    let mut web = web();
    web["readinessProbe"] = json!({"periodSeconds": 2, "successThreshold": 2});
    web["livenessProbe"] = json!({"periodSeconds": 5, "failureThreshold": 2});
    web["startupProbe"] = json!({"periodSeconds": 1});
    let mut pod = RealPod::of(&json!({"containers": [web], "terminationGracePeriodSeconds": 7}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0);
    let probes = |pod: &RealPod| -> Vec<ContainerProbe> {
        let kind = |action: &RuntimeAction| match action {
            RuntimeAction::Probe { probe, .. } => Some(*probe),
            _ => None,
        };
        pod.actions.iter().filter_map(kind).collect()
    };
    assert_eq!(probes(&pod), [ContainerProbe::Startup], "the others wait for it");
    pod.probed(ContainerProbe::Startup, ProbeResult::Failure("not yet".to_owned()));
    assert_eq!((probes(&pod), pod.wake), (vec![], Some(at(1))));
    pod.after(1).probed(ContainerProbe::Startup, ProbeResult::Success);
    assert_eq!(probes(&pod), [ContainerProbe::Readiness, ContainerProbe::Liveness]);
    pod.probed(ContainerProbe::Readiness, ProbeResult::Success)
        .probed(ContainerProbe::Liveness, ProbeResult::Success);
    assert_eq!(pod.shown(), "Running up initialized web:running", "one success of two");
    pod.after(2).probed(ContainerProbe::Readiness, ProbeResult::Success);
    assert_eq!(pod.shown(), "Running up initialized ready web:running");
    pod.after(3).probed(ContainerProbe::Liveness, ProbeResult::Failure("down".to_owned()));
    pod.after(5).probed(ContainerProbe::Liveness, ProbeResult::Failure("down".to_owned()));
    let grace = Duration::from_secs(7);
    let stop = RuntimeAction::StopContainer { container: "web".to_owned(), grace };
    assert!(pod.actions.contains(&stop), "{:?}", pod.actions);
    let expected = [
        "Unhealthy Liveness probe failed: down",
        "Killing Container web failed liveness probe, will be restarted",
    ];
    assert_eq!(pod.events[pod.events.len() - 2..], expected);
}

#[test]
fn sidecars_are_stopped_after_the_containers_that_they_serve() {
    let sidecar = |name: &str| json!({"name": name, "image": "nginx:1", "restartPolicy": "Always"});
    let mut pod =
        RealPod::of(&json!({"initContainers": [sidecar("a"), sidecar("b")], "containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("a", 0).start("b", 0).start("web", 0);
    pod.deleted(30);
    let stopped = |pod: &RealPod| -> Vec<String> {
        let name = |action: &RuntimeAction| match action {
            RuntimeAction::StopContainer { container, .. } => Some(container.clone()),
            _ => None,
        };
        pod.actions.iter().filter_map(name).collect()
    };
    assert_eq!(stopped(&pod), ["web"]);
    pod.after(1).exit("web", 0, 0);
    assert_eq!(stopped(&pod), ["b"]);
    pod.exit("b", 0, 0);
    assert_eq!(stopped(&pod), ["a"]);
    pod.exit("a", 0, 0);
    assert_eq!(pod.actions, [RuntimeAction::StopSandbox]);
}

#[test]
fn a_lost_sandbox_is_created_again_with_all_containers() {
    let init = json!({"name": "init", "image": "nginx:1"});
    let mut pod = RealPod::of(&json!({"initContainers": [init], "containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("init", 0);
    pod.after(1).exit("init", 0, 0).start("web", 0);
    pod.after(9).report(RuntimeReport::SandboxLost);
    assert_eq!(pod.actions, [RuntimeAction::CreateSandbox { attempt: 1 }]);
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("init", 1);
    pod.after(1).exit("init", 1, 0).start("web", 1);
    assert_eq!(pod.shown(), "Running up initialized ready init:Completed(0)*1 web:running*1");
}

#[test]
fn a_restarted_agent_continues_with_the_containers_that_it_finds() {
    let mut web = web();
    web["readinessProbe"] = json!({});
    let mut pod = RealPod::of(&json!({"containers": [web]}));
    pod.report(RuntimeReport::Sandbox(Ok(())))
        .start("web", 0)
        .probed(ContainerProbe::Readiness, ProbeResult::Success);
    let before = pod.status.clone();
    let found = FoundContainer {
        name: "web".to_owned(),
        attempt: 0,
        identity: identity("web", 0),
        started: at(0),
        exit: None,
    };
    let found = FoundPod { sandboxes: 1, is_ready: true, containers: vec![found] };
    pod.run = PodRun::resume(&pod.pod(), &before, &found, at(5));
    pod.after(5);
    assert_eq!(pod.status, before, "the status is unchanged");

    pod.run = PodRun::resume(&pod.pod(), &before, &FoundPod::default(), at(9));
    pod.seconds = 9;
    pod.sync();
    assert_eq!(pod.actions, [RuntimeAction::CreateSandbox { attempt: 0 }], "the machine was restarted");
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 1);
    assert_eq!(pod.status.container_statuses.as_ref().unwrap()[0].restart_count, 1);
}

#[test]
fn an_evicted_pod_ends_soon_and_has_failed() {
    let mut pod = RealPod::of(&json!({"containers": [web()]}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0);
    let grace = Duration::from_secs(1);
    let message = "The node was low on resource: memory. ".to_owned();
    pod.after(3).report(RuntimeReport::Evicted(Eviction { message, grace, is_disruption: true }));
    assert_eq!(pod.actions, [RuntimeAction::StopContainer { container: "web".to_owned(), grace }]);
    assert_eq!(pod.status.phase.as_deref(), Some("Running"), "its container still runs");
    pod.exit("web", 0, 137);
    let PodStatusEnd { phase, reason, message } = PodStatusEnd::of(&pod.status);
    assert_eq!((phase, reason), ("Failed", "Evicted"));
    assert_eq!(message, "The node was low on resource: memory. ");
    let conditions = pod.status.conditions.as_ref().unwrap();
    let target = conditions.iter().find(|condition| condition.type_ == "DisruptionTarget").unwrap();
    assert_eq!(target.reason.as_deref(), Some("TerminationByKubelet"));
    pod.report(RuntimeReport::SandboxStopped);
    assert_eq!(pod.completion, Completion::Finished, "the object stays, with the reason");
    assert_eq!(pod.events.last().unwrap(), "Killing Stopping container web");
    assert!(pod.events.contains(&"Evicted The node was low on resource: memory. ".to_owned()));
}

#[test]
fn a_pod_that_is_evicted_for_its_own_limit_is_not_disrupted_and_has_its_grace() {
    let mut pod = RealPod::of(&json!({"containers": [web()], "terminationGracePeriodSeconds": 20}));
    pod.report(RuntimeReport::Sandbox(Ok(()))).start("web", 0);
    let (message, grace) = ("over its limit. ".to_owned(), Duration::from_secs(40));
    pod.after(3).report(RuntimeReport::Evicted(Eviction { message, grace, is_disruption: false }));
    let grace = Duration::from_secs(20);
    assert_eq!(pod.actions, [RuntimeAction::StopContainer { container: "web".to_owned(), grace }]);
    pod.exit("web", 0, 0);
    let PodStatusEnd { phase, reason, message } = PodStatusEnd::of(&pod.status);
    assert_eq!((phase, reason, message), ("Failed", "Evicted", "over its limit. "));
    let conditions = pod.status.conditions.as_ref().unwrap();
    assert!(conditions.iter().all(|condition| condition.type_ != "DisruptionTarget"), "{conditions:?}");
}

/// As recorded from a kubelet 1.37: a rejected pod has neither conditions nor containers.
#[test]
fn a_pod_beyond_the_capacity_of_the_node_is_not_started() {
    let container = json!({"name": "web", "image": "nginx:1", "resources": {"requests": {"cpu": "500m"}}});
    let mut pod = RealPod::of(&json!({"containers": [container]}));
    pod.run = PodRun::resume(&pod.pod(), &wire::PodStatus::default(), &FoundPod::default(), at(0));
    let of = |allocatable, used| ResourceCapacity { allocatable, used };
    let capacity = |used| NodeCapacity { cpu: of(2_000_000_000, used), memory: of(0, 0) };
    assert_eq!(pod.pod().rejection(&capacity(1_500_000_000)), None);
    let rejection = pod.pod().rejection(&capacity(1_900_000_000)).unwrap();
    pod.report(RuntimeReport::Rejected(rejection));
    assert_eq!(pod.actions, [RuntimeAction::StopSandbox], "although it does not exist");
    let PodStatusEnd { phase, reason, message } = PodStatusEnd::of(&pod.status);
    assert_eq!((phase, reason), ("Failed", "OutOfcpu"));
    let why = "Node didn't have enough resource: cpu, requested: 500, used: 1900, capacity: 2000";
    assert_eq!(message, format!("Pod was rejected: {why}"));
    assert_eq!(pod.events, [format!("OutOfcpu {why}")]);
    assert_eq!((&pod.status.conditions, &pod.status.container_statuses), (&None, &None));
}

/// The status fields that show that a pod has ended.
struct PodStatusEnd<'a> {
    phase: &'a str,
    reason: &'a str,
    message: &'a str,
}

impl<'a> PodStatusEnd<'a> {
    fn of(status: &'a wire::PodStatus) -> Self {
        let text = |field: &'a Option<String>| field.as_deref().unwrap_or_default();
        Self { phase: text(&status.phase), reason: text(&status.reason), message: text(&status.message) }
    }
}
