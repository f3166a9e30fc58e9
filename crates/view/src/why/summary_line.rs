//! Reasons as text.

use gantry_model::Timestamp;

use super::missing::Missing;
use super::reason::Reason;
use super::scheduling;
use crate::formatting::{count, span};
use crate::snapshot::Exit;

impl Reason {
    /// A clause that begins in lower case.
    pub fn summary_line(&self, now: Timestamp) -> String {
        self.about_containers().unwrap_or_else(|| match self {
            Self::ReadinessGate { gates } => format!("readiness gate {} is not met", gates.join(", ")),
            Self::Unschedulable { obstacles } if obstacles.is_empty() => "no node fits the pod".to_owned(),
            Self::Unschedulable { obstacles } => {
                format!("no node fits the pod: {}", scheduling::description(obstacles))
            }
            Self::SchedulingGate { gates } => {
                format!("scheduling gate {} has not been removed", gates.join(", "))
            }
            Self::NoScheduler { waited, scheduler } => {
                let scheduler = scheduler.as_ref().map(|name| format!(" named {name}")).unwrap_or_default();
                format!("no scheduler{scheduler} has processed it for {}", span(*waited))
            }
            Self::NodeSilent { waited } => {
                format!("the node has reported nothing about the pod for {}", span(*waited))
            }
            Self::NodeNotReady { node } => format!("node {node} is not ready"),
            Self::PodFailed { cluster_reason } => format!("the pod has failed: {cluster_reason}"),
            Self::Starting => "starting, no errors reported".to_owned(),
            Self::MinReady { seconds, next } => {
                let next = next.map(|next| format!("; the next counts in {}", span(next.since(now))));
                format!("ready, but must be for {seconds}s (minReadySeconds){}", next.unwrap_or_default())
            }
            Self::Terminating { overdue, finalizers } => match (overdue, finalizers.as_slice()) {
                (_, [_, ..]) => format!("not deleted yet, held by finalizer {}", finalizers.join(", ")),
                (Some(overdue), []) => format!("not deleted yet, {} past their grace period", span(*overdue)),
                (None, []) => "shutting down".to_owned(),
            },
            Self::Deleting { kind, finalizers, waited } => deleting(kind, finalizers, waited.as_ref()),
            _ => self.about_rules(),
        })
    }

    /// About containers and kubelets.
    fn about_containers(&self) -> Option<String> {
        Some(match self {
            Self::ImagePull { container, image, cluster_reason } if cluster_reason == "InvalidImageName" => {
                format!("{image} is not a valid image name (container {container})")
            }
            Self::ImagePull { container, image, cluster_reason } if cluster_reason == "ErrImageNeverPull" => {
                format!("image {image} is not on the node and may not be pulled (container {container})")
            }
            Self::ImagePull { container, image, .. } => {
                format!("image {image} cannot be pulled (container {container})")
            }
            Self::CrashLoop { container, restarts, exit, memory_limit } => {
                let ending = exit.as_ref().map(|exit| format!(", last with {}", ending(exit)));
                let times = count((*restarts).into(), "restart");
                let limit = memory_limit.as_ref().map(|limit| {
                    format!("; it was killed, probably for exceeding its memory limit of {limit}")
                });
                format!(
                    "container {container} is in a crash loop: {times}{}{}",
                    ending.unwrap_or_default(),
                    limit.unwrap_or_default()
                )
            }
            Self::OutOfMemory { container, restarts, limit } => {
                let times = count((*restarts).into(), "restart");
                let limit = limit.as_ref().map(|limit| format!(", limit {limit}")).unwrap_or_default();
                format!(
                    "container {container} is killed for using too much memory (OOMKilled{limit}): {times}"
                )
            }
            Self::ContainerConfig { container, cluster_reason, missing } => {
                format!(
                    "container {container} cannot be created: {}",
                    lacking(cluster_reason, missing.as_ref())
                )
            }
            Self::PodSetup { cluster_reason, missing } => {
                format!("the node cannot set up the pod: {}", lacking(cluster_reason, missing.as_ref()))
            }
            Self::ProbeFailing { probe, container, check } => {
                let check = Some(check).filter(|check| !check.is_empty());
                let shown_check = check.map(|check| format!(" ({check})")).unwrap_or_default();
                format!("the {} probe of container {container} fails{shown_check}", probe.as_str())
            }
            _ => return None,
        })
    }

    /// About controllers and the API.
    fn about_rules(&self) -> String {
        match self {
            Self::OldPods { remaining } => {
                format!(
                    "Recreate: {} must be deleted before new ones are created",
                    count(*remaining, "old pod")
                )
            }
            Self::Quota { quota } => format!("quota {quota} is exhausted"),
            Self::ServiceAccount { name } => {
                format!("pods cannot be created: service account {name} does not exist")
            }
            Self::CreateRefused { cluster_reason } => format!("pods cannot be created ({cluster_reason})"),
            Self::SetRefused => "the new ReplicaSet cannot be created".to_owned(),
            Self::SelectorConflict { with } => {
                format!("the selector also matches what belongs to {}", with.join(", "))
            }
            Self::InvalidField { field } => format!("{field} is not supported"),
            Self::SurgeLimit { total, limit } => {
                format!("at the surge limit: {total} pods of at most {limit}")
            }
            Self::AvailabilityFloor { available, minimum } => {
                format!("at the availability floor: {available} available of at least {minimum}")
            }
            Self::ScalingRecreate { active } => {
                format!("{active} ReplicaSets are active, which the strategy Recreate cannot scale")
            }
            Self::NotSeen { kind, waited } => {
                let waited = waited.map(|waited| format!(" for {}", span(waited))).unwrap_or_default();
                format!("no controller has reacted to the {kind}'s last change{waited}")
            }
            Self::OwnWrites => "the controller is about to take the next step".to_owned(),
            Self::Paused => "the Deployment is paused".to_owned(),
            // The others are handled above.
            _ => self.code().to_owned(),
        }
    }
}

fn deleting(kind: &str, finalizers: &[String], waited: Option<&std::time::Duration>) -> String {
    let waited = waited.map(|waited| format!(" for {}", span(*waited))).unwrap_or_default();
    match finalizers {
        [] => format!("the {kind} is being deleted"),
        [..] => {
            format!("the {kind} is being deleted, held{waited} by finalizer {}", finalizers.join(", "))
        }
    }
}

/// The kubelet's reason, and what is missing where that is known.
fn lacking(cluster_reason: &str, missing: Option<&Missing>) -> String {
    match missing {
        Some(missing) => format!("{} does not exist ({cluster_reason})", missing.description()),
        None => cluster_reason.to_owned(),
    }
}

fn ending(exit: &Exit) -> String {
    match exit.reason.as_str() {
        "" | "Error" | "Completed" => format!("exit code {}", exit.code),
        reason => format!("exit code {} ({reason})", exit.code),
    }
}
