//! A pod as its node sees it: its spec and, on a simulated node, its behaviour.

use std::collections::BTreeSet;
use std::time::Duration;

use gantry_model::{Event, Timestamp};
use gantry_rng::Rng;
use k8s_openapi::api::core::v1 as wire;

use super::dependencies::{self, Environment, Volume};
use super::messages;
use super::resize::ContainerAmounts;
use crate::behaviour::{ANNOTATION_PREFIX, DurationRange, Profile, Pull, Ready, Traits};

/// A pod as its node sees it: its spec and, on a simulated node, its behaviour.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) generation: Option<i64>,
    pub(super) network: Network,
    pub(super) restart: RestartPolicy,
    /// The termination grace period.
    pub(super) grace: Duration,
    /// `spec.activeDeadlineSeconds`.
    pub(super) active_deadline: Option<Duration>,
    /// The volumes that containers mount.
    pub(super) volumes: Vec<Volume>,
    /// The names of the Secrets that images are pulled with.
    pub(super) pull_secrets: Vec<String>,
    /// The init containers in their order, then the main ones, then the ephemeral ones.
    pub(super) containers: Vec<Container>,
    /// The readiness gates, each with the current status of its condition.
    pub(super) gates: Vec<(String, Option<String>)>,
    pub(super) deletion: Option<Deletion>,
}

/// The network that a pod uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    Own,
    Host,
}

/// Whether containers that exited are restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestartPolicy {
    Always,
    OnFailure,
    Never,
}

/// A requested deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deletion {
    /// When the grace period ends.
    pub(super) deadline: Timestamp,
    /// The grace period.
    pub(super) grace: Duration,
}

/// One container.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) role: Role,
    pub(super) pull_policy: PullPolicy,
    /// The objects that its environment is read from.
    pub(super) environment: Environment,
    pub(super) startup: Option<Probe>,
    pub(super) readiness: Option<Probe>,
    pub(super) liveness: Option<Probe>,
    /// The fields of a real container's spec that its status repeats.
    pub(super) requested: Option<Box<RequestedContainer>>,
    /// Its simulated behaviour; `None` if a container runtime runs it and reports its state.
    pub(super) behaviour: Option<Behaviour>,
}

/// The fields of a real container's spec that its status repeats, and the handling of changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestedContainer {
    pub(super) mounts: Option<Vec<wire::VolumeMountStatus>>,
    pub(super) amounts: ContainerAmounts,
    /// The resources whose change restarts it.
    pub(super) restarted_for: BTreeSet<String>,
}

/// When an image is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PullPolicy {
    Always,
    IfNotPresent,
    Never,
}

/// The role of a container in its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Runs to completion before the next container starts.
    Init,
    /// Starts before the next container and keeps running.
    Sidecar,
    /// A regular container.
    Main,
    /// Added to a running pod for debugging; it does not count for the state of the pod.
    Ephemeral,
}

/// The timing of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    pub(super) initial_delay: Duration,
    pub(super) period: Duration,
    pub(super) successes: u32,
    /// The failure threshold.
    pub(super) failures: u32,
    /// The grace period of a container that is killed because of this probe, if it differs from the pod's.
    pub(super) grace: Option<Duration>,
}

/// The behaviour of one container, with the durations picked for its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Behaviour {
    pub(super) pull: Pull,
    pub(super) pull_takes: Duration,
    pub(super) start_takes: Duration,
    pub(super) ready: Ready,
    pub(super) ready_takes: Duration,
    pub(super) flap: Option<Duration>,
    /// Whether its startup probe passes.
    pub(super) startup: Ready,
    /// How long it runs before its liveness probe fails; `None` if it always passes.
    pub(super) liveness_fails: Option<Duration>,
    /// When and how it exits without being stopped; `None` if it keeps running.
    pub(super) exits: Option<PlannedExit>,
    pub(super) stop_takes: Duration,
}

/// An exit of a container that was not stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedExit {
    /// The time from its start.
    pub(super) after: Duration,
    pub(super) code: i32,
    /// Whether it is killed for exceeding its memory limit.
    pub(super) out_of_memory: bool,
}

/// The exit code of a container that was killed.
pub(super) const KILLED: i32 = 137;
/// Kubernetes' default of `terminationGracePeriodSeconds`.
const GRACE_SECONDS: i64 = 30;

/// How long a container runs that is expected to complete: an init container, or one that is not always restarted.
const TASK_DURATION: Duration = Duration::from_secs(2);

impl Pod {
    /// Parses a pod that is bound to a simulated node, and determines its behaviour.
    ///
    /// Invalid annotations are ignored; an event is returned for each.
    pub fn parse(pod: &wire::Pod, profile: &Profile) -> (Self, Vec<Event>) {
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        let (annotated, problems) = annotated_traits(pod.metadata.annotations.iter().flatten());
        let behaviour = |container: &wire::Container, role: Role, restart: RestartPolicy| {
            let traits = profile.traits_of(container.image.as_deref().unwrap_or_default());
            let traits = match role {
                Role::Init => {
                    let own = traits.for_init_containers();
                    traits.overlaid(&own).overlaid(&annotated.for_init_containers())
                }
                Role::Sidecar | Role::Main | Role::Ephemeral => traits.overlaid(&annotated),
            };
            let keeps_running = match role {
                Role::Init => false,
                Role::Sidecar | Role::Ephemeral => true,
                Role::Main => restart == RestartPolicy::Always,
            };
            Some(Behaviour::new(&traits, keeps_running, uid, &container.name))
        };
        (Self::parse_with(pod, behaviour), problems)
    }

    /// Parses a pod that is bound to a node with a container runtime.
    pub fn parse_real(pod: &wire::Pod) -> Self {
        Self::parse_with(pod, |_, _, _| None)
    }

    fn parse_with(
        pod: &wire::Pod,
        behaviour: impl Fn(&wire::Container, Role, RestartPolicy) -> Option<Behaviour>,
    ) -> Self {
        let fallback = wire::PodSpec::default();
        let spec = pod.spec.as_ref().unwrap_or(&fallback);
        let meta = &pod.metadata;
        let restart = RestartPolicy::parse(spec.restart_policy.as_deref());
        let container = |container: &wire::Container, role: Role| {
            Container::parse(container, role, behaviour(container, role, restart))
        };
        let init = spec.init_containers.iter().flatten();
        let init = init.map(|it| container(it, if is_always(it) { Role::Sidecar } else { Role::Init }));
        let main = spec.containers.iter().map(|it| container(it, Role::Main));
        let ephemeral = spec.ephemeral_containers.iter().flatten();
        let ephemeral = ephemeral.map(|it| container(&ephemeral_as_container(it), Role::Ephemeral));
        Self {
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
            generation: meta.generation,
            network: if spec.host_network == Some(true) { Network::Host } else { Network::Own },
            restart,
            grace: seconds(spec.termination_grace_period_seconds.unwrap_or(GRACE_SECONDS)),
            active_deadline: spec.active_deadline_seconds.map(seconds),
            volumes: dependencies::volumes(meta.name.as_deref().unwrap_or_default(), spec),
            pull_secrets: spec
                .image_pull_secrets
                .iter()
                .flatten()
                .map(|secret| secret.name.clone())
                .collect(),
            containers: init.chain(main).chain(ephemeral).collect(),
            gates: gates(spec, pod.status.as_ref()),
            deletion: Deletion::parse(pod),
            uid: meta.uid.clone().unwrap_or_default(),
        }
    }

    /// Returns its name in messages: `web-1_shop(uid)`.
    pub(super) fn long_name(&self) -> String {
        format!("{}_{}({})", self.name, self.namespace, self.uid)
    }

    /// Whether its readiness depends on conditions that other components write.
    pub fn has_readiness_gates(&self) -> bool {
        !self.gates.is_empty()
    }

    /// Whether a container runtime runs it.
    pub(super) fn is_real(&self) -> bool {
        self.containers.first().is_some_and(|container| container.behaviour.is_none())
    }

    /// Whether its containers take no time to start (`start-seconds: 0`), so that its sandbox takes hardly any either.
    pub(super) fn starts_at_once(&self) -> bool {
        let takes =
            |container: &Container| container.behaviour.as_ref().map(|simulated| simulated.start_takes);
        self.containers.iter().all(|container| takes(container).is_some_and(|takes| takes.is_zero()))
    }

    pub(super) fn has_init_containers(&self) -> bool {
        self.containers.iter().any(|container| matches!(container.role, Role::Init | Role::Sidecar))
    }
}

/// Returns an ephemeral container in the form of the others.
pub fn ephemeral_as_container(container: &wire::EphemeralContainer) -> wire::Container {
    let container = container.clone();
    wire::Container {
        name: container.name,
        image: container.image,
        image_pull_policy: container.image_pull_policy,
        command: container.command,
        args: container.args,
        working_dir: container.working_dir,
        env: container.env,
        env_from: container.env_from,
        volume_mounts: container.volume_mounts,
        volume_devices: container.volume_devices,
        security_context: container.security_context,
        stdin: container.stdin,
        stdin_once: container.stdin_once,
        tty: container.tty,
        termination_message_path: container.termination_message_path,
        termination_message_policy: container.termination_message_policy,
        ..wire::Container::default()
    }
}

/// Parses the traits in annotations. Returns an event for each invalid one.
fn annotated_traits<'a>(annotations: impl Iterator<Item = (&'a String, &'a String)>) -> (Traits, Vec<Event>) {
    let (mut traits, mut problems) = (Traits::default(), Vec::new());
    for (key, value) in annotations {
        let Some(name) = key.strip_prefix(ANNOTATION_PREFIX) else { continue };
        if let Err(problem) = traits.set(name, value) {
            problems.push(messages::invalid_annotation(&problem));
        }
    }
    (traits, problems)
}

fn seconds(count: i64) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or(0))
}

fn is_always(container: &wire::Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn gates(spec: &wire::PodSpec, status: Option<&wire::PodStatus>) -> Vec<(String, Option<String>)> {
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let state = |gate: &str| {
        conditions.iter().find(|condition| condition.type_ == gate).map(|condition| condition.status.clone())
    };
    let gates = spec.readiness_gates.iter().flatten();
    gates.map(|gate| (gate.condition_type.clone(), state(&gate.condition_type))).collect()
}

impl RestartPolicy {
    fn parse(written: Option<&str>) -> Self {
        match written {
            Some("Never") => Self::Never,
            Some("OnFailure") => Self::OnFailure,
            _ => Self::Always,
        }
    }
}

impl Deletion {
    fn parse(pod: &wire::Pod) -> Option<Self> {
        let deadline = Timestamp::parse(pod.metadata.deletion_timestamp.as_ref()?);
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        Some(Self { deadline, grace: seconds(grace) })
    }

    /// Returns when the deletion was requested.
    pub(super) fn requested_at(self) -> Timestamp {
        let grace = i64::try_from(self.grace.as_nanos()).unwrap_or(i64::MAX);
        Timestamp::from_nanos(self.deadline.as_nanos().saturating_sub(grace))
    }
}

impl Container {
    fn parse(container: &wire::Container, role: Role, behaviour: Option<Behaviour>) -> Self {
        Self {
            name: container.name.clone(),
            image: container.image.clone().unwrap_or_default(),
            role,
            pull_policy: PullPolicy::parse(container.image_pull_policy.as_deref()),
            environment: Environment::parse(container),
            startup: container.startup_probe.as_ref().map(Probe::parse),
            readiness: container.readiness_probe.as_ref().map(Probe::parse),
            liveness: container.liveness_probe.as_ref().map(Probe::parse),
            requested: behaviour.is_none().then(|| Box::new(requested(container))),
            behaviour,
        }
    }
}

/// Returns the fields of a container's spec that its status repeats.
fn requested(container: &wire::Container) -> RequestedContainer {
    let mounts = container.volume_mounts.iter().flatten().map(|mount| {
        let is_read_only = mount.read_only == Some(true);
        wire::VolumeMountStatus {
            name: mount.name.clone(),
            mount_path: mount.mount_path.clone(),
            read_only: is_read_only.then_some(true),
            recursive_read_only: is_read_only.then(|| "Disabled".to_owned()),
            ..wire::VolumeMountStatus::default()
        }
    });
    let policies = container.resize_policy.iter().flatten();
    let restarting = policies.filter(|policy| policy.restart_policy == "RestartContainer");
    RequestedContainer {
        mounts: Some(mounts.collect::<Vec<_>>()).filter(|mounts| !mounts.is_empty()),
        amounts: ContainerAmounts::parse(container.resources.as_ref()),
        restarted_for: restarting.map(|policy| policy.resource_name.clone()).collect(),
    }
}

impl PullPolicy {
    fn parse(written: Option<&str>) -> Self {
        match written {
            Some("Always") => Self::Always,
            Some("Never") => Self::Never,
            _ => Self::IfNotPresent,
        }
    }
}

impl Probe {
    fn parse(probe: &wire::Probe) -> Self {
        let number = |field: Option<i32>, default: u32, least: u32| {
            field.and_then(|number| u32::try_from(number).ok()).unwrap_or(default).max(least)
        };
        Self {
            initial_delay: Duration::from_secs(number(probe.initial_delay_seconds, 0, 0).into()),
            period: Duration::from_secs(number(probe.period_seconds, 10, 1).into()),
            successes: number(probe.success_threshold, 1, 1),
            failures: number(probe.failure_threshold, 3, 1),
            grace: probe.termination_grace_period_seconds.map(seconds),
        }
    }
}

impl Behaviour {
    fn new(traits: &Traits, keeps_running: bool, uid: &str, container: &str) -> Self {
        let pick = |range: Option<DurationRange>, purpose: &str| {
            let rng = Rng::keyed(uid, &format!("{container}/{purpose}"));
            range.map(|range| range.pick(rng))
        };
        let crash = |after: Duration, default: i32| PlannedExit {
            after,
            code: traits.exit_code.unwrap_or(default),
            out_of_memory: false,
        };
        let out_of_memory = pick(traits.oom_after, "oom").map(|after| PlannedExit {
            after,
            code: KILLED,
            out_of_memory: true,
        });
        let crashes = pick(crash_after(traits, uid), "exit").map(|after| crash(after, 1));
        let exits = match out_of_memory.into_iter().chain(crashes).min_by_key(|exit| exit.after) {
            Some(exit) => Some(exit),
            None if keeps_running => None,
            None => Some(crash(TASK_DURATION, 0)),
        };
        Self {
            pull: traits.pull.unwrap_or(Pull::Works),
            pull_takes: pick(traits.pull_seconds, "pull").unwrap_or_default(),
            start_takes: pick(traits.start_seconds, "start").unwrap_or_default(),
            ready: traits.ready.unwrap_or(Ready::Eventually),
            ready_takes: pick(traits.ready_seconds, "ready").unwrap_or_default(),
            flap: pick(traits.flap_seconds, "flap"),
            startup: traits.startup.unwrap_or(Ready::Eventually),
            liveness_fails: pick(traits.liveness_fails_after, "liveness"),
            exits,
            stop_takes: pick(traits.terminate_seconds, "stop").unwrap_or_default(),
        }
    }
}

/// When a container exits without being stopped, if the pod is among those that do.
fn crash_after(traits: &Traits, uid: &str) -> Option<DurationRange> {
    let Some(percent) = traits.crash_percent else { return traits.crash_after };
    let is_affected = Rng::keyed(uid, "crash-percent").below(100) < u64::from(percent);
    is_affected.then(|| traits.crash_after.unwrap_or(DurationRange::millis(1000)))
}
