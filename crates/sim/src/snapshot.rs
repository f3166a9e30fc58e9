//! Snapshots of a world in the form of the conformance recordings of Kubernetes, to compare both.
//!
//! Races inside Kubernetes are masked in both: why a running rollout progresses, and which of several similar events
//! were aggregated.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value, json};
use gantry_model::{ConditionStatus, Deployment, Meta, Pod, ReplicaSet, Uid};

use crate::story::Player;

/// Takes snapshots of one story, and remembers which events were aggregated.
#[derive(Clone, Debug, Default)]
pub struct Snapshotter {
    aggregated: BTreeSet<(String, String, String)>,
}

impl Snapshotter {
    /// The current state of the cluster.
    pub fn snapshot(&mut self, player: &Player) -> Value {
        let cluster = &player.world.cluster;
        let deployments: Vec<_> =
            cluster.deployments().map(|deployment| shown_deployment(player, deployment)).collect();
        let sets: Vec<_> = player.sets().into_iter().map(|set| replica_set(player, set)).collect();
        json!({
            "deployments": masked(player, json!(deployments)),
            "sets": masked(player, json!(sets)),
            "pods": pods(player),
            "events": self.events(player),
        })
    }

    fn events(&mut self, player: &Player) -> Value {
        let mut events: BTreeSet<[String; 5]> = player
            .world
            .events()
            .map(|event| {
                [
                    event.subject.kind.to_string(),
                    alias(player, event.subject.name.as_str()),
                    event.event_type.as_str().to_owned(),
                    event.reason.to_owned(),
                    alias(player, &event.message),
                ]
            })
            .collect();
        for [kind, name, _, reason, message] in &events {
            if message.starts_with("(combined") {
                self.aggregated.insert((kind.clone(), name.clone(), reason.clone()));
            }
        }
        events = events
            .into_iter()
            .map(|[kind, name, event_type, reason, message]| {
                let is_folded = self.aggregated.contains(&(kind.clone(), name.clone(), reason.clone()));
                let message = if is_folded { "*".to_owned() } else { message };
                [kind, name, event_type, reason, message]
            })
            .collect();
        json!(events)
    }
}

/// Real names replaced: `set0` for a set, `set0-POD` for a pod of it.
fn alias(player: &Player, text: &str) -> String {
    let with_sets = player.shorten(text, |index| format!("set{index}"));
    let mut words = Vec::new();
    for word in with_sets.split(' ') {
        let is_pod = word
            .strip_prefix("set")
            .and_then(|rest| rest.split_once('-'))
            .is_some_and(|(index, suffix)| index.bytes().all(|b| b.is_ascii_digit()) && suffix.len() == 5);
        words.push(match word.split_once('-') {
            Some((set, _)) if is_pod => format!("{set}-POD"),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

fn masked(player: &Player, value: Value) -> Value {
    match value {
        Value::String(text) => Value::from(alias(player, &text)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| masked(player, item)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, masked(player, value))).collect())
        }
        other => other,
    }
}

fn shown_deployment(player: &Player, deployment: &Deployment) -> Value {
    let status = &deployment.status;
    let done = [status.updated, status.replicas, status.available].iter().all(|n| *n == deployment.replicas);
    let conditions = status.conditions.iter().map(|c| {
        let (kind, state) = (c.condition_type.as_str(), c.status.as_str());
        let is_racy = kind == "Progressing" && c.status == ConditionStatus::True && !done;
        if is_racy {
            return [kind, state, "*", "*"].map(str::to_owned);
        }
        // Which set a condition names depends on when it was set; that it names one does not.
        let message = player.shorten(&c.message, |_| "SET".to_owned());
        [kind, state, &c.reason, &message].map(str::to_owned)
    });
    let conditions: BTreeSet<_> = conditions.collect();
    let mut counters = counters(&[
        ("replicas", status.replicas.get()),
        ("updatedReplicas", status.updated.get()),
        ("readyReplicas", status.ready.get()),
        ("availableReplicas", status.available.get()),
        ("unavailableReplicas", status.unavailable.get()),
        ("terminatingReplicas", status.terminating.unwrap_or_default().get()),
        ("collisionCount", status.collision_count.unwrap_or(0).into()),
    ]);
    if status.replicas.is_zero() {
        // The Deployment's wire format leaves this one out when it is zero, unlike a set's.
        counters.remove("replicas");
    }
    let mut shown = json!({
        "name": deployment.meta.name.as_str(),
        "replicas": deployment.replicas.render(),
        "generation": deployment.meta.generation,
        "observed": deployment.meta.generation == status.observed_generation,
        "annotations": annotations(&deployment.meta),
        "status": counters,
        "conditions": conditions,
    });
    note_deletion(&deployment.meta, &mut shown);
    shown
}

fn replica_set(player: &Player, set: &ReplicaSet) -> Value {
    let status = &set.status;
    let conditions = status
        .conditions
        .iter()
        .map(|c| [c.condition_type.as_str(), c.status.as_str(), &c.reason, &c.message].map(str::to_owned));
    let conditions: BTreeSet<_> = conditions.collect();
    let mut shown = json!({
        "name": set.meta.name.as_str(),
        "owner": owner(&set.meta, &player.world.cluster.deployments().map(|d| (d.meta.uid.clone(), d.meta.name.to_string())).collect()),
        "replicas": set.replicas.render(),
        "observed": set.meta.generation == status.observed_generation,
        "annotations": annotations(&set.meta),
        "status": counters(&[
            ("replicas", status.replicas.get()),
            ("fullyLabeledReplicas", status.fully_labeled.get()),
            ("readyReplicas", status.ready.get()),
            ("availableReplicas", status.available.get()),
            ("terminatingReplicas", status.terminating.unwrap_or_default().get()),
        ]),
        "conditions": conditions,
        "minReadySeconds": set.min_ready_seconds,
    });
    note_deletion(&set.meta, &mut shown);
    shown
}

fn pods(player: &Player) -> BTreeMap<String, usize> {
    let sets =
        player.sets().into_iter().map(|set| (set.meta.uid.clone(), alias(player, set.meta.name.as_str())));
    let sets: BTreeMap<Uid, String> = sets.collect();
    let mut counts = BTreeMap::new();
    for pod in player.world.cluster.pods() {
        *counts.entry(pod_line(pod, &sets)).or_insert(0) += 1;
    }
    counts
}

fn pod_line(pod: &Pod, sets: &BTreeMap<Uid, String>) -> String {
    let owner = owner(&pod.meta, sets);
    let owner = owner.as_str().unwrap_or("orphan");
    let ready = if pod.is_ready() { "ready" } else { "unready" };
    let terminating = if pod.meta.is_deleting() { " terminating" } else { "" };
    format!("{owner} {} {ready}{terminating}", pod.phase.as_str())
}

fn owner(meta: &Meta, known: &BTreeMap<Uid, String>) -> Value {
    match meta.controller() {
        None => Value::Null,
        Some(owner) => Value::from(known.get(&owner.uid).map_or("gone", String::as_str)),
    }
}

fn annotations(meta: &Meta) -> BTreeMap<String, String> {
    let shown = meta.annotations.iter().filter(|(key, _)| !key.starts_with("kubectl"));
    shown.map(|(key, value)| (key.rsplit('/').next().unwrap_or(key).to_owned(), value.clone())).collect()
}

fn counters(counters: &[(&str, i64)]) -> Map {
    let shown = counters.iter().filter(|(name, count)| *count != 0 || *name == "replicas");
    shown.map(|(name, count)| ((*name).to_owned(), json!(count))).collect()
}

fn note_deletion(meta: &Meta, shown: &mut Value) {
    if meta.is_deleting() {
        shown["deleting"] = json!(meta.finalizers);
    }
}
