//! Why no node fits a pod, parsed from the scheduler's message.

use gantry_json::{Value, json};

use super::missing::Missing;
use crate::formatting::count;

/// A reason against some nodes, or against the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The number of nodes; `None` if it is about the pod itself.
    pub nodes: Option<i64>,
    /// Its kind.
    pub kind: ObstacleKind,
}

/// The kind of an obstacle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// The cluster has no nodes.
    NoNodes,
    /// The node is cordoned.
    Cordoned,
    /// The node has too little of a resource left.
    Insufficient(String),
    /// The node has reached its maximum number of pods.
    TooManyPods,
    /// The pod does not tolerate a taint.
    Tainted,
    /// The pod's node selector or node affinity does not match.
    NotSelected,
    /// A host port of the pod is in use.
    PortTaken,
    /// A topology spread constraint is violated.
    Spread,
    /// Affinity or anti-affinity between pods is violated.
    PodAffinity,
    /// A claim does not exist.
    ClaimMissing(String),
    /// A volume of the pod has node affinity to other nodes.
    VolumeElsewhere,
    /// A claim is not bound to a volume.
    ClaimUnbound,
    /// Another reason, as reported by the scheduler.
    Other(String),
}

/// `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: …`
pub(super) fn obstacles(message: &str) -> Vec<Obstacle> {
    if message.contains("no nodes available") {
        return vec![Obstacle { nodes: None, kind: ObstacleKind::NoNodes }];
    }
    let Some((_, reasons)) = message.split_once("nodes are available: ") else { return Vec::new() };
    let reasons = reasons.split_once(". ").map_or(reasons, |(reasons, _)| reasons);
    reasons.trim_end_matches('.').split(", ").filter(|reason| !reason.is_empty()).map(obstacle).collect()
}

fn obstacle(reason: &str) -> Obstacle {
    let counted = reason.split_once(' ').and_then(|(n, rest)| Some((n.parse::<i64>().ok()?, rest)));
    let (nodes, message) = counted.map_or((None, reason), |(nodes, message)| (Some(nodes), message));
    Obstacle { nodes, kind: kind(message) }
}

fn kind(message: &str) -> ObstacleKind {
    let has = |part: &str| message.contains(part);
    if let Some(resource) = message.strip_prefix("Insufficient ") {
        return ObstacleKind::Insufficient(resource.to_owned());
    }
    if let Some(Missing { kind: "PersistentVolumeClaim", name: Some(name), .. }) =
        Missing::in_message(message)
    {
        return ObstacleKind::ClaimMissing(name);
    }
    match () {
        () if has("Too many pods") => ObstacleKind::TooManyPods,
        () if has("were unschedulable") => ObstacleKind::Cordoned,
        () if has("untolerated taint") => ObstacleKind::Tainted,
        () if has("topology spread") => ObstacleKind::Spread,
        () if has("PersistentVolume's node affinity") => ObstacleKind::VolumeElsewhere,
        () if has("node affinity") || has("[NodeAffinity]") => ObstacleKind::NotSelected,
        () if has("free ports") => ObstacleKind::PortTaken,
        () if has("affinity rules") => ObstacleKind::PodAffinity,
        () if has("unbound immediate PersistentVolumeClaims")
            || has("didn't find available persistent volumes") =>
        {
            ObstacleKind::ClaimUnbound
        }
        () => ObstacleKind::Other(message.to_owned()),
    }
}

/// All obstacles in one clause, such as `1 node cordoned, 2 nodes short of cpu`.
pub(super) fn description(obstacles: &[Obstacle]) -> String {
    obstacles.iter().map(Obstacle::description).collect::<Vec<_>>().join(", ")
}

impl Obstacle {
    pub(super) fn json(&self) -> Value {
        let detail = match &self.kind {
            ObstacleKind::Insufficient(what)
            | ObstacleKind::ClaimMissing(what)
            | ObstacleKind::Other(what) => Some(what),
            _ => None,
        };
        json!({"code": self.kind.code(), "nodes": self.nodes, "detail": detail})
    }

    fn description(&self) -> String {
        let what = match &self.kind {
            ObstacleKind::NoNodes => "there are no nodes".to_owned(),
            ObstacleKind::Cordoned => "cordoned".to_owned(),
            ObstacleKind::Insufficient(resource) => format!("short of {resource}"),
            ObstacleKind::TooManyPods => "at their limit of pods".to_owned(),
            ObstacleKind::Tainted => "with untolerated taints".to_owned(),
            ObstacleKind::NotSelected => "not matched by node selector or affinity".to_owned(),
            ObstacleKind::PortTaken => "without the free host port".to_owned(),
            ObstacleKind::Spread => "against topology spread constraints".to_owned(),
            ObstacleKind::PodAffinity => "against pod affinity or anti-affinity".to_owned(),
            ObstacleKind::VolumeElsewhere => "not reachable by a required volume".to_owned(),
            ObstacleKind::ClaimMissing(name) => format!("PersistentVolumeClaim {name} does not exist"),
            ObstacleKind::ClaimUnbound => "a PersistentVolumeClaim is not bound to a volume".to_owned(),
            ObstacleKind::Other(message) => message.clone(),
        };
        match (&self.kind, self.nodes) {
            (ObstacleKind::Other(message), Some(nodes)) => format!("{nodes} {message}"),
            (ObstacleKind::ClaimMissing(_) | ObstacleKind::ClaimUnbound, _) | (_, None) => what,
            (_, Some(nodes)) => format!("{} {what}", count(nodes, "node")),
        }
    }
}

impl ObstacleKind {
    /// A stable code.
    fn code(&self) -> &'static str {
        match self {
            Self::NoNodes => "NoNodes",
            Self::Cordoned => "Cordoned",
            Self::Insufficient(_) => "Insufficient",
            Self::TooManyPods => "TooManyPods",
            Self::Tainted => "Tainted",
            Self::NotSelected => "NotSelected",
            Self::PortTaken => "PortTaken",
            Self::Spread => "TopologySpread",
            Self::PodAffinity => "PodAffinity",
            Self::VolumeElsewhere => "VolumeElsewhere",
            Self::ClaimMissing(_) => "ClaimMissing",
            Self::ClaimUnbound => "ClaimUnbound",
            Self::Other(_) => "Other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(message: &str) -> String {
        description(&obstacles(message))
    }

    #[test]
    fn reasons_of_the_scheduler_are_parsed() {
        assert_eq!(
            describe(
                "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 2 node(s) were \
                 unschedulable. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
            ),
            "1 node short of cpu, 1 node with untolerated taints, 2 nodes cordoned"
        );
        assert_eq!(
            describe("0/1 nodes are available: persistentvolumeclaim \"data\" not found. not found"),
            "PersistentVolumeClaim data does not exist"
        );
        assert_eq!(
            describe("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"),
            "a PersistentVolumeClaim is not bound to a volume"
        );
        assert_eq!(describe("no nodes available to schedule pods"), "there are no nodes");
        assert_eq!(describe("0/1 nodes are available: 1 node(s) are purple."), "1 node(s) are purple");
        assert_eq!(describe("something else"), "");
    }
}
