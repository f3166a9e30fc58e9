//! Snapshots of a namespace through the API, in the form of the recordings of Kubernetes.
//!
//! Races inside Kubernetes are masked in both: why a running rollout progresses, and which of several similar events
//! were aggregated.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value, json};

use gantry_test_cluster::{TestNamespace, is_ready};

/// The counters of a status that are compared.
const COUNTERS: [&str; 8] = [
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "fullyLabeledReplicas",
    "terminatingReplicas",
    "collisionCount",
];

/// Takes snapshots of one namespace, and remembers which events were aggregated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshotter {
    folded: BTreeSet<(String, String, String)>,
}

impl Snapshotter {
    pub(crate) async fn snapshot(&mut self, stage: &mut TestNamespace) -> Value {
        let sets = stage.sets().await;
        let mut deployments = stage.list("deployments").await;
        deployments.sort_by_key(|one| text(&one["metadata"]["name"]));
        let events = stage.list("events").await;
        let pods = stage.list("pods").await;
        json!({
            "deployments": deployments.iter().map(|one| deployment(stage, one)).collect::<Vec<_>>(),
            "sets": sets.iter().map(|one| set(stage, one, &deployments)).collect::<Vec<_>>(),
            "pods": counted(stage, &pods, &sets),
            "left": costs(&pods),
            "events": self.events(stage, &events),
        })
    }

    fn events(&mut self, stage: &TestNamespace, events: &[Value]) -> BTreeSet<[String; 5]> {
        let recorded_messages: BTreeSet<[String; 5]> =
            events.iter().map(|event| recorded_messages(stage, event)).collect();
        for [kind, name, _, reason, message] in &recorded_messages {
            if message.starts_with("(combined") {
                self.folded.insert((kind.clone(), name.clone(), reason.clone()));
            }
        }
        let unfolded = recorded_messages.into_iter().map(|[kind, name, severity, reason, message]| {
            let is_folded = self.folded.contains(&(kind.clone(), name.clone(), reason.clone()));
            let message = if is_folded { "*".to_owned() } else { message };
            [kind, name, severity, reason, message]
        });
        unfolded.collect()
    }
}

fn recorded_messages(stage: &TestNamespace, event: &Value) -> [String; 5] {
    let about = &event["involvedObject"];
    [
        text(&about["kind"]),
        stage.mask(&text(&about["name"])),
        text(&event["type"]),
        text(&event["reason"]),
        stage.mask(&text(&event["message"])),
    ]
}

fn deployment(stage: &TestNamespace, object: &Value) -> Value {
    let mut shown = workload(stage, object);
    shown["name"] = object["metadata"]["name"].clone();
    shown["generation"] = object["metadata"]["generation"].clone();
    shown
}

fn set(stage: &TestNamespace, object: &Value, deployments: &[Value]) -> Value {
    let mut shown = workload(stage, object);
    shown["name"] = json!(stage.mask(&text(&object["metadata"]["name"])));
    shown["owner"] = owner(stage, object, deployments);
    shown["minReadySeconds"] = json!(object["spec"]["minReadySeconds"].as_u64().unwrap_or(0));
    shown
}

/// The common part of Deployments and ReplicaSets.
fn workload(stage: &TestNamespace, object: &Value) -> Value {
    let (meta, status) = (&object["metadata"], &object["status"]);
    let mut shown = json!({
        "replicas": object["spec"]["replicas"],
        "observed": meta["generation"] == status["observedGeneration"],
        "annotations": annotations(stage, meta),
        "status": counters(status),
        "conditions": conditions(stage, object),
    });
    if !meta["deletionTimestamp"].is_null() {
        shown["deleting"] = json!(meta["finalizers"].as_array().cloned().unwrap_or_default());
    }
    shown
}

fn annotations(stage: &TestNamespace, meta: &Value) -> BTreeMap<String, String> {
    let all = meta["annotations"].as_object().into_iter().flatten();
    let shown = all.filter(|(key, _)| !key.starts_with("kubectl"));
    shown.map(|(key, value)| (key.rsplit('/').next().unwrap().to_owned(), stage.mask(&text(value)))).collect()
}

fn counters(status: &Value) -> Map {
    let all = COUNTERS.iter().filter_map(|name| Some((*name, status.get(name)?)));
    let shown = all.filter(|(name, count)| **count != json!(0) || *name == "replicas");
    shown.map(|(name, count)| (name.to_owned(), count.clone())).collect()
}

fn conditions(stage: &TestNamespace, object: &Value) -> BTreeSet<[String; 4]> {
    let status = &object["status"];
    let wanted = object["spec"]["replicas"].as_u64();
    let counted = |name: &str| Some(status[name].as_u64().unwrap_or(0));
    let is_done =
        ["updatedReplicas", "replicas", "availableReplicas"].iter().all(|name| counted(name) == wanted);
    let all = status["conditions"].as_array().into_iter().flatten();
    let shown = all.map(|one| {
        let [kind, verdict, reason] = ["type", "status", "reason"].map(|field| text(&one[field]));
        if kind == "Progressing" && verdict == "True" && !is_done {
            return [kind, verdict, "*".to_owned(), "*".to_owned()];
        }
        [kind, verdict, reason, without_set_names(&stage.mask(&text(&one["message"])))]
    });
    shown.collect()
}

/// Which set a condition names depends on when it was set; that it names one does not.
fn without_set_names(message: &str) -> String {
    let words = message.split('"').map(|word| {
        let index = word.strip_prefix("set");
        let is_set =
            index.is_some_and(|index| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()));
        if is_set { "SET" } else { word }
    });
    words.collect::<Vec<_>>().join("\"")
}

fn counted(stage: &TestNamespace, pods: &[Value], sets: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pod in pods {
        let owner = owner(stage, pod, sets);
        let owner = owner.as_str().unwrap_or("orphan");
        let ready = if is_ready(pod) { "ready" } else { "unready" };
        let ending = if pod["metadata"]["deletionTimestamp"].is_null() { "" } else { " terminating" };
        let line = format!("{owner} {} {ready}{ending}", text(&pod["status"]["phase"]));
        *counts.entry(line).or_insert(0) += 1;
    }
    counts
}

/// The deletion costs of the remaining pods, where pods have one.
fn costs(pods: &[Value]) -> Vec<String> {
    let mut marks: Vec<_> = pods.iter().map(|pod| text(&pod["metadata"]["labels"]["cost"])).collect();
    marks.sort();
    marks
}

/// The controller of an object, by its masked name.
fn owner(stage: &TestNamespace, object: &Value, known: &[Value]) -> Value {
    let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let Some(controller) = references.into_iter().find(|one| one["controller"] == true) else {
        return Value::Null;
    };
    let found = known.iter().find(|one| one["metadata"]["uid"] == controller["uid"]);
    json!(found.map_or("gone".to_owned(), |found| stage.mask(&text(&found["metadata"]["name"]))))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
