//! The parts of objects that the rules need, read from their JSON in the simplest way.

use std::time::Duration;

use gantry_json::Value;

/// A Deployment.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the object are independent of each other")]
pub(super) struct DeploymentView {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) generation: i64,
    pub(super) wanted: i64,
    pub(super) surge: i64,
    pub(super) unavailable: i64,
    pub(super) is_rolling: bool,
    pub(super) is_paused: bool,
    pub(super) is_deleting: bool,
    pub(super) finalizers: Vec<String>,
    /// The number of old sets to keep.
    pub(super) history: i64,
    pub(super) revision: i64,
    pub(super) template: Value,
    pub(super) observed_generation: i64,
    pub(super) counts: [i64; 4],
    /// Whether the Progressing condition reports that the rollout is complete.
    pub(super) claims_completion: bool,
    /// Whether an annotation requests a rollback.
    pub(super) is_rolled_back: bool,
    pub(super) deadline: Option<Duration>,
    /// The reason of the Progressing condition, and when it was last updated.
    pub(super) progress: (String, String),
}

/// A ReplicaSet.
#[derive(Clone, Debug)]
pub(super) struct SetView {
    pub(super) name: String,
    pub(super) uid: String,
    /// The uid of its controller; empty if it has none.
    pub(super) owner: String,
    pub(super) generation: i64,
    pub(super) size: i64,
    /// The size of the Deployment that it was last sized for.
    pub(super) sized_for: Option<i64>,
    /// The maximum number of pods of all sets of the Deployment at that time.
    pub(super) sized_max: Option<i64>,
    pub(super) min_ready: Duration,
    pub(super) revision: i64,
    pub(super) template: Value,
    pub(super) is_deleting: bool,
    pub(super) finalizers: Vec<String>,
    pub(super) observed_generation: i64,
    /// The numbers of its pods, of ready ones and of available ones, by its status.
    pub(super) counts: [i64; 3],
}

/// A Pod.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the object are independent of each other")]
pub(super) struct PodView {
    pub(super) owner: String,
    /// Whether it is neither ended nor terminating.
    pub(super) is_active: bool,
    /// Whether it has not ended. It may be terminating.
    pub(super) is_unfinished: bool,
    pub(super) is_evicted: bool,
    pub(super) is_ready: bool,
}

impl DeploymentView {
    pub(super) fn of(object: &Value) -> Self {
        let (meta, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
        let wanted = number(&spec["replicas"]).unwrap_or(1);
        let rolling = &spec["strategy"]["rollingUpdate"];
        let (surge, unavailable) = limits(&rolling["maxSurge"], &rolling["maxUnavailable"], wanted);
        let is_rolling = spec["strategy"]["type"] != "Recreate";
        let conditions = status["conditions"].as_array();
        let progressing = conditions.and_then(|all| all.iter().find(|one| one["type"] == "Progressing"));
        let progress = progressing.map(|one| (text(&one["reason"]), text(&one["lastUpdateTime"])));
        let progress = progress.unwrap_or_default();
        Self {
            name: text(&meta["name"]),
            uid: text(&meta["uid"]),
            generation: number(&meta["generation"]).unwrap_or(0),
            wanted,
            surge: if is_rolling { surge } else { 0 },
            unavailable,
            is_rolling,
            is_paused: spec["paused"] == true,
            is_deleting: !meta["deletionTimestamp"].is_null(),
            finalizers: texts(&meta["finalizers"]),
            history: number(&spec["revisionHistoryLimit"]).unwrap_or(10),
            revision: revision(meta),
            template: spec["template"].clone(),
            observed_generation: number(&status["observedGeneration"]).unwrap_or(0),
            counts: ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]
                .map(|count| number(&status[count]).unwrap_or(0)),
            claims_completion: progress.0 == "NewReplicaSetAvailable",
            is_rolled_back: !meta["annotations"]["deprecated.deployment.rollback.to"].is_null(),
            deadline: number(&spec["progressDeadlineSeconds"]).map(seconds),
            progress,
        }
    }

    pub(super) fn is_deleted_in_foreground(&self) -> bool {
        self.is_deleting && waits_for_dependents(&self.finalizers)
    }

    /// The maximum total size of its sets.
    pub(super) fn ceiling(&self) -> i64 {
        self.wanted + self.surge
    }

    /// The minimum number of available pods in a rolling update.
    pub(super) fn floor(&self) -> i64 {
        self.wanted - self.unavailable
    }
}

impl SetView {
    pub(super) fn of(object: &Value) -> Self {
        let (meta, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
        let annotated =
            |name: &str| meta["annotations"][name].as_str().and_then(|written| written.parse().ok());
        let mut template = spec["template"].clone();
        if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
            labels.remove("pod-template-hash");
        }
        Self {
            name: text(&meta["name"]),
            uid: text(&meta["uid"]),
            owner: controller(meta),
            generation: number(&meta["generation"]).unwrap_or(0),
            size: number(&spec["replicas"]).unwrap_or(1),
            sized_for: annotated("deployment.kubernetes.io/desired-replicas"),
            sized_max: annotated("deployment.kubernetes.io/max-replicas"),
            min_ready: seconds(number(&spec["minReadySeconds"]).unwrap_or(0)),
            revision: revision(meta),
            template,
            is_deleting: !meta["deletionTimestamp"].is_null(),
            finalizers: texts(&meta["finalizers"]),
            observed_generation: number(&status["observedGeneration"]).unwrap_or(0),
            counts: ["replicas", "readyReplicas", "availableReplicas"]
                .map(|count| number(&status[count]).unwrap_or(0)),
        }
    }

    pub(super) fn is_deleted_in_foreground(&self) -> bool {
        self.is_deleting && waits_for_dependents(&self.finalizers)
    }

    pub(super) fn available(&self) -> i64 {
        self.counts[2]
    }
}

impl PodView {
    pub(super) fn of(object: &Value) -> Self {
        let (meta, status) = (&object["metadata"], &object["status"]);
        let has_ended = status["phase"] == "Failed" || status["phase"] == "Succeeded";
        let conditions = status["conditions"].as_array();
        let has = |kind: &str| {
            conditions.is_some_and(|all| all.iter().any(|one| one["type"] == kind && one["status"] == "True"))
        };
        Self {
            owner: controller(meta),
            is_active: !has_ended && meta["deletionTimestamp"].is_null(),
            is_unfinished: !has_ended,
            is_evicted: has("DisruptionTarget"),
            is_ready: has("Ready"),
        }
    }
}

/// Surge and unavailable in pods: percentages of the desired number, rounded up and down, never both zero.
fn limits(surge: &Value, unavailable: &Value, wanted: i64) -> (i64, i64) {
    let pods = |limit: &Value, round_up: bool| match limit.as_str().and_then(|text| text.strip_suffix('%')) {
        Some(percent) => {
            let hundredths = percent.parse::<i64>().unwrap_or(0) * wanted;
            hundredths / 100 + i64::from(round_up && hundredths % 100 > 0)
        }
        None => number(limit).unwrap_or(0),
    };
    match (pods(surge, true), pods(unavailable, false)) {
        (0, 0) => (0, 1.min(wanted)),
        (surge, unavailable) => (surge, unavailable.min(wanted)),
    }
}

fn controller(meta: &Value) -> String {
    let owners = meta["ownerReferences"].as_array();
    let controller = owners.into_iter().flatten().find(|owner| owner["controller"] == true);
    controller.map(|owner| text(&owner["uid"])).unwrap_or_default()
}

/// The uids of all owners of an object.
pub(super) fn owners(object: &Value) -> Vec<String> {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().map(|owner| text(&owner["uid"])).collect()
}

fn waits_for_dependents(finalizers: &[String]) -> bool {
    finalizers.iter().any(|finalizer| finalizer == "foregroundDeletion")
}

fn revision(meta: &Value) -> i64 {
    let written = meta["annotations"]["deployment.kubernetes.io/revision"].as_str();
    written.and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64()
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(u64::try_from(number).unwrap_or(0))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
