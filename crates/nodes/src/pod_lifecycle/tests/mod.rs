//! Stories of pods: the status and events that their nodes report over time.

mod dependencies;
mod failures;
mod properties;
mod real;
mod resize;
mod startup;
mod termination;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_json::{Value, json};
use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;

use super::{
    Completion, Lookup, NodeContext, Pod, PodRun, Reference, ReferenceKind, References, needed, sync,
};
use crate::behaviour::Profile;

/// The time at which stories start.
const START: i64 = 1_767_268_800;

/// A pod on its node, with a virtual clock.
struct TestPod {
    object: Value,
    profile: Profile,
    run: Option<PodRun>,
    images: BTreeSet<String>,
    /// The objects that exist in the namespace.
    objects: Vec<(Reference, Lookup)>,
    status: wire::PodStatus,
    completion: Completion,
    wake: Option<Timestamp>,
    story: String,
}

impl TestPod {
    /// Creates a pod whose steps take whole seconds: one to pull, one to start, two to stop.
    fn of(spec: &Value) -> Self {
        let mut object = json!({
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "u1", "generation": 1, "annotations": {}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1", "imagePullPolicy": "IfNotPresent"}]},
        });
        for (field, value) in spec.as_object().unwrap() {
            object["spec"][field] = value.clone();
        }
        let profile =
            Profile::read("default: {pull-seconds: 1, start-seconds: 1, terminate-seconds: 2}").unwrap();
        Self {
            object,
            profile,
            run: None,
            images: BTreeSet::new(),
            objects: Vec::new(),
            status: wire::PodStatus::default(),
            completion: Completion::Active,
            wake: None,
            story: String::new(),
        }
    }

    fn annotated(mut self, annotations: &[(&str, &str)]) -> Self {
        for (name, value) in annotations {
            self.object["metadata"]["annotations"][format!("sim.gantry.dev/{name}")] = json!(value);
        }
        self
    }

    /// Creates a ConfigMap or Secret with these keys.
    fn with(&mut self, kind: ReferenceKind, name: &str, keys: &[&str]) -> &mut Self {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        self.objects.push((Reference { kind, name: name.to_owned() }, Lookup::Keys(keys)));
        self
    }

    fn look_up(&self, reference: &Reference) -> Lookup {
        let known = self.objects.iter().rev().find(|(known, _)| known == reference);
        known.map_or(Lookup::Missing, |(_, found)| found.clone())
    }

    /// Requests the deletion at that second of the story, with that grace period.
    fn deleted(&mut self, at: i64, grace: i64) {
        let deadline = Timestamp::from_secs(START + at + grace).to_string();
        self.object["metadata"]["deletionTimestamp"] = json!(deadline);
        self.object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
    }

    /// Syncs the pod whenever it is due, until that second of the story.
    fn until(&mut self, seconds: i64) -> &mut Self {
        let end = Timestamp::from_secs(START + seconds);
        let mut now = self.wake.unwrap_or(Timestamp::from_secs(START)).min(end);
        loop {
            self.sync(now);
            match self.wake {
                Some(wake) if wake <= end => {
                    assert!(wake > now, "a sync at {now} requests another one at {wake}");
                    now = wake;
                }
                _ => return self,
            }
        }
    }

    fn sync(&mut self, now: Timestamp) {
        let object: wire::Pod = gantry_json::from_value(self.object.clone()).unwrap();
        let (pod, problems) = Pod::parse(&object, &self.profile);
        let run = self.run.take().unwrap_or_else(|| PodRun::recover(&pod, &self.status, now));
        let mut references = References::default();
        for reference in needed(&pod, &run, now) {
            let found = self.look_up(&reference);
            references.insert(reference, found);
        }
        let node = NodeContext {
            address: "172.18.0.2",
            pod_address: "10.128.0.7",
            images: &self.images,
            references: &references,
            capacity: None,
        };
        let synced = sync(&pod, run, &node, now);
        let mut lines = problems
            .into_iter()
            .map(|event| format!("{} {}", event.reason, event.message))
            .collect::<Vec<_>>();
        lines.extend(synced.events.iter().map(|it| format!("{} {}", it.event.reason, it.event.message)));
        if synced.status != self.status {
            lines.push(shown(&synced.status));
        }
        let time = (now.as_nanos() - START * 1_000_000_000) / 100_000_000;
        for line in lines {
            writeln!(self.story, "{:>3}.{} {line}", time / 10, time % 10).unwrap();
        }
        self.images.extend(synced.pulled);
        (self.status, self.run) = (synced.status, Some(synced.run));
        (self.wake, self.completion) = (synced.wake, synced.completion);
    }

    /// Restarts the node's process: only the reported status remains.
    fn restarted(&mut self) -> &mut Self {
        self.run = None;
        self.wake = None;
        let text = gantry_json::to_value(&self.status);
        self.status = gantry_json::from_value(text).unwrap();
        self
    }

    fn take_story(&mut self) -> String {
        std::mem::take(&mut self.story)
    }

    fn condition(&self, name: &str) -> &wire::PodCondition {
        self.status.conditions.iter().flatten().find(|condition| condition.type_ == name).unwrap()
    }
}

/// `Pending web:ContainerCreating`, `Running ready web:running`.
fn shown(status: &wire::PodStatus) -> String {
    let mut text = status.phase.clone().unwrap();
    for (name, word) in
        [("PodReadyToStartContainers", "up"), ("Initialized", "initialized"), ("Ready", "ready")]
    {
        let mut conditions = status.conditions.iter().flatten();
        if conditions.any(|condition| condition.type_ == name && condition.status == "True") {
            write!(text, " {word}").unwrap();
        }
    }
    for container in status.init_container_statuses.iter().chain(&status.container_statuses).flatten() {
        let state = container.state.as_ref().unwrap();
        let word = match (&state.waiting, &state.running, &state.terminated) {
            (Some(waiting), ..) => waiting.reason.clone().unwrap(),
            (_, Some(_), _) => "running".to_owned(),
            (.., Some(terminated)) => {
                format!("{}({})", terminated.reason.clone().unwrap(), terminated.exit_code)
            }
            _ => "nothing".to_owned(),
        };
        let restarts =
            if container.restart_count > 0 { format!("*{}", container.restart_count) } else { String::new() };
        write!(text, " {}:{word}{restarts}", container.name).unwrap();
    }
    text
}

fn assert_story(story: &str, expected: &str) {
    let expected: Vec<_> = expected.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect();
    let story: Vec<_> = story.lines().map(str::trim_start).collect();
    assert_eq!(story, expected, "\n{}", story.join("\n"));
}
