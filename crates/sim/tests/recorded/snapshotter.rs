//! Snapshots of a story's namespace, in the form of the recordings of Kubernetes.
//!
//! Races inside Kubernetes are masked in both: why a running rollout progresses, and which of several similar events
//! were aggregated.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value, json};

use gantry_sim::story::{Player, is_ready};

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

/// Names that are the same on every run: `set0` is the first ReplicaSet that was seen, `set0-POD` a pod of it. The
/// namespace of the recordings is masked too.
pub(crate) fn masked(player: &Player<'_>, text: &str) -> String {
    let with_sets = player.shorten(text, |index| format!("set{index}"));
    let masked: Vec<String> = with_sets.split(' ').map(without_suffix).collect();
    masked.join(" ")
}

/// Replaces the generated suffix of a pod's name.
fn without_suffix(word: &str) -> String {
    let Some((set, rest)) = word.split_once('-') else { return word.to_owned() };
    let is_set = set
        .trim_start_matches('"')
        .strip_prefix("set")
        .is_some_and(|index| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()));
    match rest.split_at_checked(5) {
        Some((suffix, end)) if is_set && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            format!("{set}-POD{end}")
        }
        _ => word.to_owned(),
    }
}

impl Snapshotter {
    pub(crate) async fn snapshot(&mut self, player: &mut Player<'_>) -> Value {
        let sets = player.sets().await.unwrap();
        let mut deployments = player.list("deployments").await.unwrap();
        deployments.sort_by_key(|one| text(&one["metadata"]["name"]));
        let events = player.list("events").await.unwrap();
        let pods = player.list("pods").await.unwrap();
        let player = &*player;
        json!({
            "deployments": deployments.iter().map(|one| deployment(player, one)).collect::<Vec<_>>(),
            "sets": sets.iter().map(|one| set(player, one, &deployments)).collect::<Vec<_>>(),
            "pods": counted(player, &pods, &sets),
            "left": costs(&pods),
            "events": self.events(player, &events),
        })
    }

    fn events(&mut self, player: &Player<'_>, events: &[Value]) -> BTreeSet<[String; 5]> {
        let recorded_messages: BTreeSet<[String; 5]> =
            events.iter().map(|event| recorded_messages(player, event)).collect();
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

fn recorded_messages(player: &Player<'_>, event: &Value) -> [String; 5] {
    let about = &event["involvedObject"];
    [
        text(&about["kind"]),
        masked(player, &text(&about["name"])),
        text(&event["type"]),
        text(&event["reason"]),
        masked(player, &text(&event["message"])),
    ]
}

fn deployment(player: &Player<'_>, object: &Value) -> Value {
    let mut shown = workload(player, object);
    shown["name"] = object["metadata"]["name"].clone();
    shown["generation"] = object["metadata"]["generation"].clone();
    shown
}

fn set(player: &Player<'_>, object: &Value, deployments: &[Value]) -> Value {
    let mut shown = workload(player, object);
    shown["name"] = json!(masked(player, &text(&object["metadata"]["name"])));
    shown["owner"] = owner(player, object, deployments);
    shown["minReadySeconds"] = json!(object["spec"]["minReadySeconds"].as_u64().unwrap_or(0));
    shown
}

/// The common part of Deployments and ReplicaSets.
fn workload(player: &Player<'_>, object: &Value) -> Value {
    let (meta, status) = (&object["metadata"], &object["status"]);
    let mut shown = json!({
        "replicas": object["spec"]["replicas"],
        "observed": meta["generation"] == status["observedGeneration"],
        "annotations": annotations(player, meta),
        "status": counters(status),
        "conditions": conditions(player, object),
    });
    if !meta["deletionTimestamp"].is_null() {
        shown["deleting"] = json!(meta["finalizers"].as_array().cloned().unwrap_or_default());
    }
    shown
}

fn annotations(player: &Player<'_>, meta: &Value) -> BTreeMap<String, String> {
    let all = meta["annotations"].as_object().into_iter().flatten();
    let shown = all.filter(|(key, _)| !key.starts_with("kubectl"));
    shown
        .map(|(key, value)| (key.rsplit('/').next().unwrap().to_owned(), masked(player, &text(value))))
        .collect()
}

fn counters(status: &Value) -> Map {
    let all = COUNTERS.iter().filter_map(|name| Some((*name, status.get(name)?)));
    let shown = all.filter(|(name, count)| **count != json!(0) || *name == "replicas");
    shown.map(|(name, count)| (name.to_owned(), count.clone())).collect()
}

fn conditions(player: &Player<'_>, object: &Value) -> BTreeSet<[String; 4]> {
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
        [kind, verdict, reason, without_set_names(&masked(player, &text(&one["message"])))]
    });
    shown.collect()
}

/// Which set a condition names depends on when it was set; whether it names one does not.
fn without_set_names(message: &str) -> String {
    let words = message.split('"').map(|word| {
        let index = word.strip_prefix("set");
        let is_set =
            index.is_some_and(|index| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()));
        if is_set { "SET" } else { word }
    });
    words.collect::<Vec<_>>().join("\"")
}

fn counted(player: &Player<'_>, pods: &[Value], sets: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pod in pods {
        let owner = owner(player, pod, sets);
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
fn owner(player: &Player<'_>, object: &Value, known: &[Value]) -> Value {
    let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let Some(controller) = references.into_iter().find(|one| one["controller"] == true) else {
        return Value::Null;
    };
    let found = known.iter().find(|one| one["metadata"]["uid"] == controller["uid"]);
    json!(found.map_or("gone".to_owned(), |found| masked(player, &text(&found["metadata"]["name"]))))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
