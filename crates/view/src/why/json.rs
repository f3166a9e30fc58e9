//! A report as JSON. Names and codes are stable; new ones may be added. Documented in `docs/why.md`.

use gantry_decide::deployment::Deadline;
use gantry_json::{Map, Value, json};
use gantry_model::Name;

use super::missing::Missing;
use super::reason::Reason;
use super::report::{Budget, Cause, ReachedLimit, Report};
use super::scheduling::Obstacle;

/// The report as one JSON object, indented, with a newline.
pub fn render(report: &Report) -> String {
    format!("{:#}\n", value(report))
}

/// The report as a JSON value.
pub fn value(report: &Report) -> Value {
    let pods = &report.pods;
    json!({
        "namespace": report.deployment.namespace.as_str(),
        "name": report.deployment.name.as_str(),
        "at": report.now.to_whole_seconds().to_string(),
        "verdict": report.verdict.as_str(),
        "headline": report.headline,
        "revision": report.revision,
        "rolledOut": report.rolled_out,
        "pods": {
            "wanted": pods.wanted.get(),
            "updated": pods.updated.get(),
            "ready": pods.ready.get(),
            "available": pods.available.get(),
            "old": pods.old.get(),
        },
        "budget": report.budget.as_ref().map(budget),
        "deadline": deadline(report),
        "causes": report.causes.iter().map(|cause| self::cause(report, cause)).collect::<Vec<_>>(),
        "unblock": report.unblock.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn budget(budget: &Budget) -> Value {
    json!({
        "maxSurge": budget.max_surge.to_string(),
        "maxUnavailable": budget.max_unavailable.to_string(),
        "podsAtMost": budget.most,
        "availableAtLeast": budget.least,
        "pods": budget.pods,
        "available": budget.available,
        "heldBy": budget.held.iter().copied().map(ReachedLimit::as_str).collect::<Vec<_>>(),
    })
}

fn deadline(report: &Report) -> Value {
    let (state, at) = match report.deadline {
        Deadline::None => ("none", None),
        Deadline::At(when) => ("running", Some(when)),
        Deadline::Exceeded => ("exceeded", None),
    };
    json!({
        "state": state,
        "at": at.map(|at| at.to_whole_seconds().to_string()),
        "secondsLeft": at.map(|at| at.since(report.now).as_secs()),
        "seconds": report.deadline_seconds,
    })
}

fn cause(report: &Report, cause: &Cause) -> Value {
    let mut fields = Map::new();
    fields.insert("code", cause.reason.code().into());
    fields.insert("weight", cause.severity.as_str().into());
    fields.insert("summary", cause.reason.summary_line(report.now).into());
    fields.insert("replicaSet", cause.set.as_ref().map(Name::as_str).into());
    fields.insert("pods", cause.pods.iter().map(Name::as_str).collect());
    fields.insert("container", cause.reason.container().into());
    fields.insert("message", cause.message.clone().into());
    fields.insert("details", details(&cause.reason));
    Value::Object(fields)
}

/// The fields of a reason.
fn details(reason: &Reason) -> Value {
    match reason {
        Reason::ImagePull { image, cluster_reason, .. } => json!({"image": image, "reason": cluster_reason}),
        Reason::CrashLoop { restarts, exit, memory_limit, .. } => json!({
            "restarts": restarts,
            "exitCode": exit.as_ref().map(|exit| exit.code),
            "exitReason": exit.as_ref().map(|exit| exit.reason.as_str()),
            "memoryLimit": memory_limit,
        }),
        Reason::OutOfMemory { restarts, limit, .. } => json!({"restarts": restarts, "memoryLimit": limit}),
        Reason::ContainerConfig { cluster_reason, missing, .. }
        | Reason::PodSetup { cluster_reason, missing } => {
            json!({"reason": cluster_reason, "missing": missing.as_ref().map(Missing::json)})
        }
        Reason::PodFailed { cluster_reason } | Reason::CreateRefused { cluster_reason } => {
            json!({"reason": cluster_reason})
        }
        Reason::ProbeFailing { check, .. } => json!({"probe": check}),
        Reason::ReadinessGate { gates } | Reason::SchedulingGate { gates } => json!({"gates": gates}),
        Reason::NoScheduler { waited, scheduler } => {
            json!({"secondsWaited": waited.as_secs(), "scheduler": scheduler})
        }
        Reason::NodeSilent { waited } => json!({"secondsWaited": waited.as_secs()}),
        Reason::Unschedulable { obstacles } => {
            json!({"obstacles": obstacles.iter().map(Obstacle::json).collect::<Vec<_>>()})
        }
        Reason::NodeNotReady { node } => json!({"node": node}),
        Reason::ServiceAccount { name } => json!({"serviceAccount": name}),
        Reason::NotSeen { kind, waited } => {
            json!({"kind": kind, "secondsWaited": waited.map(|waited| waited.as_secs())})
        }
        Reason::MinReady { seconds, next } => {
            json!({"minReadySeconds": seconds, "nextAt": next.map(|next| next.to_whole_seconds().to_string())})
        }
        Reason::Terminating { overdue, finalizers } => {
            json!({"secondsOverdue": overdue.map(|late| late.as_secs()), "finalizers": finalizers})
        }
        Reason::Deleting { kind, finalizers, waited } => json!({
            "kind": kind,
            "finalizers": finalizers,
            "secondsWaited": waited.map(|waited| waited.as_secs()),
        }),
        Reason::OldPods { remaining } => json!({"remaining": remaining}),
        Reason::Quota { quota } => json!({"quota": quota}),
        Reason::SelectorConflict { with } => json!({"with": with}),
        Reason::InvalidField { field } => json!({"field": field}),
        Reason::SurgeLimit { total, limit } => json!({"total": total, "limit": limit}),
        Reason::AvailabilityFloor { available, minimum } => {
            json!({"available": available, "minimum": minimum})
        }
        Reason::ScalingRecreate { active } => json!({"active": active}),
        Reason::Starting | Reason::SetRefused | Reason::OwnWrites | Reason::Paused => json!({}),
    }
}
