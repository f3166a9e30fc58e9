//! A Pod as the rules need it.

use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{Controlled, Meta, Name, ParseError, Timestamp, keys};

/// A Pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    /// Its metadata.
    pub meta: Meta,
    /// Its phase.
    pub phase: Phase,
    /// The node it is assigned to.
    pub node: Option<Name>,
    /// Its `Ready` condition.
    pub readiness: Readiness,
    /// When its `Ready` condition last changed, if that was recorded.
    pub readiness_changed: Option<Timestamp>,
    /// Its addresses and ports.
    pub network: PodNetwork,
    /// The restart counts of its containers.
    pub restarts: Restarts,
    /// The deletion cost; zero unless a valid annotation says otherwise.
    pub deletion_cost: i32,
}

/// The addresses and ports of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodNetwork {
    /// Its addresses.
    pub ips: Vec<String>,
    /// `spec.hostname`.
    pub hostname: Option<String>,
    /// `spec.subdomain`: the headless Service under which it has a name in DNS.
    pub subdomain: Option<String>,
    /// The ports that its containers declare, those of sidecars last.
    pub ports: Vec<ContainerPort>,
}

/// A port that a container declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerPort {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its number.
    pub number: i32,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
}

gantry_formats::text_enum! {
    /// The phase of a pod.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase {
        /// Accepted, not all containers started. Also the meaning of an empty or unknown phase.
        Pending = "Pending",
        /// At least one container runs.
        Running = "Running",
        /// All containers have succeeded.
        Succeeded = "Succeeded",
        /// All containers have terminated, one of them with a failure.
        Failed = "Failed",
        /// The state is unknown, because the node does not respond.
        Unknown = "Unknown",
    }

    /// The value on the wire.
    pub fn as_str(self) -> &'static str;
    fn parse(text: &str) -> Option<Self>;
}

/// The `Ready` condition of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Not ready, or without the condition.
    NotReady,
    /// Ready.
    Ready {
        /// Since when, if that was recorded.
        since: Option<Timestamp>,
    },
}

/// The highest restart counts of a pod's containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Restarts {
    /// Of the regular containers.
    pub containers: i32,
    /// Of the restartable init containers (sidecars).
    pub sidecars: i32,
}

impl Pod {
    /// A pod that was just created: pending, and assigned to no node.
    pub fn pending(meta: Meta) -> Self {
        Self {
            meta,
            phase: Phase::Pending,
            node: None,
            readiness: Readiness::NotReady,
            readiness_changed: None,
            network: PodNetwork::default(),
            restarts: Restarts::default(),
            deletion_cost: 0,
        }
    }

    /// Parses a Pod.
    pub fn parse(pod: &wire::Pod) -> Result<Self, ParseError> {
        let meta = Meta::parse(ObjectMeta { managed_fields: None, ..pod.metadata.clone() })?;
        let (no_spec, no_status) = (wire::PodSpec::default(), wire::PodStatus::default());
        let spec = pod.spec.as_ref().unwrap_or(&no_spec);
        Ok(Self::of_parts(meta, spec, pod.status.as_ref().unwrap_or(&no_status)))
    }

    pub(crate) fn of_parts(meta: Meta, spec: &wire::PodSpec, status: &wire::PodStatus) -> Self {
        Self {
            phase: status.phase.as_deref().and_then(Phase::parse).unwrap_or(Phase::Pending),
            readiness: Readiness::parse(status.conditions.as_deref().unwrap_or_default()),
            readiness_changed: ready_condition(status.conditions.as_deref().unwrap_or_default())
                .and_then(|ready| ready.last_transition_time.as_ref().map(Timestamp::parse)),
            restarts: Restarts::parse(spec, status),
            network: PodNetwork::parse(spec, status),
            node: spec.node_name.as_deref().filter(|node| !node.is_empty()).map(Name::from),
            deletion_cost: meta.annotations.get(keys::DELETION_COST).map_or(0, |cost| deletion_cost(cost)),
            meta,
        }
    }

    /// Whether it counts for its controller: it is neither terminated nor terminating.
    pub fn is_active(&self) -> bool {
        !self.phase.is_finished() && !self.meta.is_deleting()
    }

    /// Whether it is terminating and has not terminated yet.
    pub fn is_terminating(&self) -> bool {
        !self.phase.is_finished() && self.meta.is_deleting()
    }

    /// Whether it is ready.
    pub fn is_ready(&self) -> bool {
        matches!(self.readiness, Readiness::Ready { .. })
    }
}

impl Controlled for Pod {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}

impl Phase {
    /// Whether it has terminated: no container will run again.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// Only the first `Ready` condition counts.
fn ready_condition(conditions: &[wire::PodCondition]) -> Option<&wire::PodCondition> {
    conditions.iter().find(|condition| condition.type_ == "Ready")
}

impl PodNetwork {
    fn parse(spec: &wire::PodSpec, status: &wire::PodStatus) -> Self {
        let sidecars = spec.init_containers.iter().flatten().filter(|init| is_sidecar(init));
        let containers = spec.containers.iter().chain(sidecars);
        let ports = containers.flat_map(|container| container.ports.iter().flatten());
        let mut ips: Vec<String> =
            status.pod_ips.iter().flatten().map(|address| address.ip.clone()).collect();
        if ips.is_empty() {
            ips.extend(status.pod_ip.clone().filter(|ip| !ip.is_empty()));
        }
        Self {
            ips,
            hostname: spec.hostname.clone().filter(|name| !name.is_empty()),
            subdomain: spec.subdomain.clone().filter(|name| !name.is_empty()),
            ports: ports.map(ContainerPort::parse).collect(),
        }
    }
}

impl ContainerPort {
    fn parse(port: &wire::ContainerPort) -> Self {
        Self {
            name: port.name.clone().unwrap_or_default(),
            number: port.container_port,
            protocol: port.protocol.clone().unwrap_or_else(|| "TCP".to_owned()),
        }
    }
}

/// Whether an init container keeps running beside the others.
fn is_sidecar(container: &wire::Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

impl Readiness {
    fn parse(conditions: &[wire::PodCondition]) -> Self {
        match ready_condition(conditions) {
            Some(ready) if ready.status == "True" => {
                Self::Ready { since: ready.last_transition_time.as_ref().map(Timestamp::parse) }
            }
            _ => Self::NotReady,
        }
    }
}

impl Restarts {
    fn parse(spec: &wire::PodSpec, status: &wire::PodStatus) -> Self {
        let is_sidecar = |name: &str| {
            spec.init_containers.iter().flatten().any(|init| init.name == name && is_sidecar(init))
        };
        let containers = status.container_statuses.iter().flatten();
        let init_containers = status.init_container_statuses.iter().flatten();
        Self {
            containers: containers.map(|container| container.restart_count).max().unwrap_or(0),
            sidecars: init_containers
                .filter(|container| is_sidecar(&container.name))
                .map(|container| container.restart_count)
                .max()
                .unwrap_or(0),
        }
    }
}

/// Parses a deletion cost: a 32-bit decimal without `+` and leading zeros, else `None`.
fn deletion_cost(written: &str) -> i32 {
    let digits = written.strip_prefix('-').unwrap_or(written);
    let is_plain = digits == "0" || (!digits.starts_with('0') && !digits.starts_with('+'));
    if is_plain { written.parse().unwrap_or(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_cost_is_a_plain_decimal() {
        for (written, cost) in [("10", 10), ("-5", -5), ("0", 0), ("2147483647", i32::MAX)] {
            assert_eq!(deletion_cost(written), cost, "{written:?}");
        }
        for invalid in ["", "+5", "05", "-05", "-0x1", "1.5", "many", "2147483648", "--1", "+-5", "-+5"] {
            assert_eq!(deletion_cost(invalid), 0, "{invalid:?}");
        }
    }
}
