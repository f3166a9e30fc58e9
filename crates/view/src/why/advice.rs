//! What a user can do about a cause.

use gantry_model::{Name, Strategy};

use super::commands::{Advice, CommandFlags};
use super::missing::Missing;
use super::reason::Reason;
use super::report::{Cause, Severity, Verdict};
use super::scheduling::{Obstacle, ObstacleKind};
use crate::rollout_state::RolloutState;

/// The maximum number of nodes in a command to uncordon.
const NODES_MAX: usize = 5;

/// The advice: about each blocking cause, and in the end a rollback.
pub(super) fn of(
    rollout: &RolloutState<'_>,
    verdict: Verdict,
    causes: &[Cause],
    flags: &CommandFlags,
) -> Vec<Advice> {
    let adviser = AdviceBuilder { rollout, flags };
    let mut all = Vec::new();
    if verdict == Verdict::Paused {
        all.push(Advice::command("resume it", flags.gantry(&["rollout", "resume", &adviser.deployment()])));
    }
    let troubling: Vec<_> = causes.iter().filter(|cause| needs_action(verdict, cause)).collect();
    for advice in troubling.iter().flat_map(|cause| adviser.about(cause)) {
        if !all.contains(&advice) {
            all.push(advice);
        }
    }
    let may_go_back = verdict == Verdict::Stuck || (verdict == Verdict::Done && !troubling.is_empty());
    if may_go_back && !rollout.snapshot.deployment.meta.is_deleting() {
        all.extend(adviser.undo(all.is_empty()));
    }
    all
}

/// Whether there is advice about a cause: it blocks, or it makes available pods restart.
fn needs_action(verdict: Verdict, cause: &Cause) -> bool {
    cause.severity == Severity::Blocks || (verdict == Verdict::Done && cause.reason.is_crash())
}

struct AdviceBuilder<'a> {
    rollout: &'a RolloutState<'a>,
    flags: &'a CommandFlags,
}

impl AdviceBuilder<'_> {
    fn deployment(&self) -> String {
        format!("deployment/{}", self.rollout.snapshot.deployment.meta.name)
    }

    fn about(&self, cause: &Cause) -> Vec<Advice> {
        let one = |text: String| vec![Advice::text(text)];
        match &cause.reason {
            Reason::ImagePull { container, image, cluster_reason } => {
                self.image(container, image, cluster_reason)
            }
            Reason::CrashLoop { container, memory_limit, .. } => {
                let limit = memory_limit.as_ref().map(|_| raise_limit(container, memory_limit.as_ref()));
                limit.into_iter().chain(self.logs(container, cause)).collect()
            }
            Reason::OutOfMemory { container, limit, .. } => vec![raise_limit(container, limit.as_ref())],
            Reason::ContainerConfig { missing: Some(missing), .. }
            | Reason::PodSetup { missing: Some(missing), .. } => vec![self.create(missing)],
            Reason::ContainerConfig { container, .. } => one(format!(
                "correct container {container} in the template, or provide what the message reports as missing"
            )),
            Reason::PodSetup { .. } => {
                one("check that the volumes exist and the node can reach them".to_owned())
            }
            Reason::ProbeFailing { probe, container, .. } => {
                let probe = probe.as_str();
                let correct =
                    one(format!("make container {container} pass its {probe} probe, or correct the probe"));
                correct.into_iter().chain(self.running_logs(container, cause)).collect()
            }
            Reason::ReadinessGate { gates } => one(format!(
                "check that the controller that sets the condition {} is running",
                gates.join(", ")
            )),
            Reason::Unschedulable { obstacles } => self.scheduling(obstacles),
            Reason::SchedulingGate { gates } => one(format!(
                "check that the controller that removes the gate {} is running",
                gates.join(", ")
            )),
            Reason::NoScheduler { scheduler: Some(name), .. } => {
                one(format!("start the scheduler {name}, or correct spec.template.spec.schedulerName"))
            }
            Reason::NoScheduler { .. } => one("check that the cluster's scheduler is running".to_owned()),
            Reason::NodeSilent { .. } | Reason::NodeNotReady { .. } => {
                vec![Advice::command("check whether the node is up", self.flags.gantry(&["get", "nodes"]))]
            }
            Reason::Terminating { .. } | Reason::Deleting { .. } => self.deletion(cause),
            reason => self.rules(reason).into_iter().collect(),
        }
    }

    /// About causes that the controllers and the API report.
    fn rules(&self, reason: &Reason) -> Option<Advice> {
        let text = match reason {
            Reason::Quota { quota } => format!(
                "raise the quota {quota}, or free part of it: delete pods, or request fewer or smaller ones"
            ),
            Reason::ServiceAccount { name } => {
                let missing = Missing { kind: "ServiceAccount", name: Some(name.clone()), key: None };
                return Some(self.create(&missing));
            }
            Reason::CreateRefused { .. } | Reason::SetRefused => {
                "correct the object that the API server rejects".to_owned()
            }
            Reason::InvalidField { field } => format!("correct {field}"),
            Reason::ScalingRecreate { .. } => {
                "set the number of replicas back, or the strategy to RollingUpdate".to_owned()
            }
            Reason::NotSeen { kind, .. } => format!("check that the {kind} controller is running"),
            _ => return None,
        };
        Some(Advice::text(text))
    }

    fn image(&self, container: &str, image: &str, cluster_reason: &str) -> Vec<Advice> {
        let other = format!("{container}=IMAGE");
        let command = self.flags.gantry(&["set", "image", &self.deployment(), &other]);
        let mut all = vec![Advice::command("use another image", command)];
        match cluster_reason {
            "InvalidImageName" => {}
            "ErrImageNeverPull" => {
                all.push(Advice::text(format!("or load {image} on the node, or change imagePullPolicy")));
            }
            _ => all.push(Advice::text(format!(
                "or push {image}, or give the pods an image pull secret that may read it"
            ))),
        }
        all
    }

    /// The logs of a container that has exited.
    fn logs(&self, container: &str, cause: &Cause) -> Option<Advice> {
        let pod = cause.pods.first()?;
        if self.is_simulated(pod) {
            return Some(Advice::text(format!(
                "the pod is on a simulated node, whose logs say no more: see the annotations sim.gantry.dev/… of the pod \
                 template and the profile of the nodes for why container {container} exits"
            )));
        }
        let args = ["logs", pod.as_str(), "-c", container, "--previous"];
        Some(Advice::command("show the last log", self.flags.kubectl(&args)))
    }

    /// The logs of a running container, where there are any.
    fn running_logs(&self, container: &str, cause: &Cause) -> Option<Advice> {
        let pod = cause.pods.first().filter(|pod| !self.is_simulated(pod))?;
        let command = self.flags.kubectl(&["logs", pod.as_str(), "-c", container]);
        Some(Advice::command("read its output", command))
    }

    fn is_simulated(&self, pod: &Name) -> bool {
        let snapshot = self.rollout.snapshot;
        let pod = snapshot.pods.iter().find(|seen| seen.pod.meta.name == *pod);
        let node = pod.and_then(|seen| seen.pod.node.as_ref());
        node.is_some_and(|node| snapshot.nodes.iter().any(|seen| seen.simulated && seen.name == *node))
    }

    /// How to create a missing object.
    fn create(&self, missing: &Missing) -> Advice {
        let Missing { kind, name, key } = missing;
        if let Some(key) = key {
            let of =
                name.as_ref().map_or_else(|| format!("the volume's {kind}"), |name| format!("{kind} {name}"));
            return Advice::text(format!("add the key {key} to {of}, or correct the template"));
        }
        let Some(name) = name else {
            return Advice::text(format!("create the {kind}, or correct the template"));
        };
        let text = |noun: &str| format!("create {noun} {name}, or correct its name in the template");
        let literal = ["--from-literal=KEY=VALUE"];
        match *kind {
            "ConfigMap" => {
                let args = [&["create", "configmap", name][..], &literal].concat();
                Advice::command(text("ConfigMap"), self.flags.kubectl(&args))
            }
            "Secret" => {
                let args = [&["create", "secret", "generic", name][..], &literal].concat();
                Advice::command(text("Secret"), self.flags.kubectl(&args))
            }
            "ServiceAccount" => {
                let command = self.flags.kubectl(&["create", "serviceaccount", name]);
                Advice::command(text("service account"), command)
            }
            kind => Advice::text(text(kind)),
        }
    }

    fn scheduling(&self, obstacles: &[Obstacle]) -> Vec<Advice> {
        let mut all: Vec<_> = obstacles.iter().filter_map(|obstacle| self.obstacle(&obstacle.kind)).collect();
        if all.is_empty() {
            all.push(Advice::text(
                "add or free nodes, or lower the pod's demands: requests, node selector, affinity, tolerations",
            ));
        }
        all
    }

    fn obstacle(&self, kind: &ObstacleKind) -> Option<Advice> {
        let text = match kind {
            ObstacleKind::Cordoned => return Some(self.uncordon()),
            ObstacleKind::ClaimUnbound => {
                return Some(Advice::command(
                    "see why the claim is not bound (it needs a matching PersistentVolume, or a StorageClass that \
                     provisions one)",
                    self.flags.gantry(&["describe", "persistentvolumeclaims"]),
                ));
            }
            ObstacleKind::ClaimMissing(name) => {
                format!("create PersistentVolumeClaim {name}, or correct claimName in the template")
            }
            ObstacleKind::VolumeElsewhere => {
                "let the pod run where its volume is, or use another volume".to_owned()
            }
            ObstacleKind::NoNodes => "add a node".to_owned(),
            ObstacleKind::Insufficient(resource) => {
                format!("add or free nodes, or request less {resource}")
            }
            ObstacleKind::TooManyPods => "add or free nodes".to_owned(),
            ObstacleKind::Tainted => {
                "remove the taint from a node, or tolerate it in the pod template".to_owned()
            }
            ObstacleKind::NotSelected => {
                "label a node accordingly, or correct the template's nodeSelector or nodeAffinity".to_owned()
            }
            ObstacleKind::PortTaken => "free the host port, or use another one".to_owned(),
            ObstacleKind::Spread | ObstacleKind::PodAffinity => {
                "add nodes, or loosen the template's affinity and topology spread constraints".to_owned()
            }
            ObstacleKind::Other(_) => return None,
        };
        Some(Advice::text(text))
    }

    fn uncordon(&self) -> Advice {
        let nodes = self.rollout.snapshot.nodes.iter().filter(|node| node.cordoned);
        let mut names: Vec<_> = nodes.map(|node| node.name.as_str()).take(NODES_MAX).collect();
        if names.is_empty() {
            names.push("NODE");
        }
        let noun = if names.len() == 1 { "the node" } else { "the nodes" };
        let args = [&["uncordon"][..], &names].concat();
        Advice::command(format!("uncordon {noun}"), self.flags.kubectl(&args))
    }

    fn deletion(&self, cause: &Cause) -> Vec<Advice> {
        let (Reason::Terminating { finalizers, .. } | Reason::Deleting { finalizers, .. }) = &cause.reason
        else {
            return Vec::new();
        };
        if finalizers.is_empty() {
            return vec![Advice::command(
                "check whether the node of these pods is up",
                self.flags.gantry(&["get", "nodes"]),
            )];
        }
        let object = match (&cause.reason, cause.pods.first(), &cause.set) {
            (Reason::Terminating { .. }, Some(pod), _) => format!("pod/{pod}"),
            (_, _, Some(set)) => format!("replicaset/{set}"),
            _ => self.deployment(),
        };
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        let command = self.flags.gantry(&["patch", &object, "--type=merge", "-p", patch]);
        vec![
            Advice::text(format!(
                "check that the controller that removes the finalizer {} is running",
                finalizers.join(", ")
            )),
            Advice::command("or, if that controller no longer exists, remove the finalizers", command),
        ]
    }

    /// Rolls back to the revision that has the most available pods, or else to the last one before.
    fn undo(&self, is_first: bool) -> Option<Advice> {
        let deployment = &self.rollout.snapshot.deployment;
        if matches!(deployment.strategy, Strategy::Unknown(_)) || deployment.paused {
            return None;
        }
        let revision = self.rollout.revision_before()?;
        let name = self.deployment();
        let mut args = vec!["rollout".to_owned(), "undo".to_owned(), name];
        if !self.rollout.undo_leads_to(revision) {
            args.push(format!("--to-revision={revision}"));
        }
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let or = if is_first { "" } else { "or " };
        let text = format!("{or}go back to revision {revision}");
        Some(Advice::command(text, self.flags.gantry(&args)))
    }
}

fn raise_limit(container: &str, limit: Option<&String>) -> Advice {
    let limit = limit.map(|limit| format!(" ({limit})")).unwrap_or_default();
    Advice::text(format!("raise the memory limit of container {container}{limit}, or make it use less"))
}
