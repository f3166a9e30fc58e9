//! A pod as its node sees it.

use std::time::Duration;

use gantry_model::{Event, Timestamp};
use k8s_openapi::api::core::v1 as wire;

use super::dependencies::{self, Environment, Volume};
use super::words;
use crate::behaviour::{ANNOTATION_PREFIX, Dice, Profile, Pull, Ready, Span, Traits};

/// A pod as its node sees it: what is asked of it, and how it behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) generation: Option<i64>,
    pub(super) network: Network,
    pub(super) restart: RestartPolicy,
    /// How long a container that is asked to stop may take.
    pub(super) grace: Duration,
    /// How long the pod may be active on its node.
    pub(super) active_deadline: Option<Duration>,
    /// The volumes that containers mount.
    pub(super) volumes: Vec<Volume>,
    /// The names of the Secrets that images are pulled with.
    pub(super) pull_secrets: Vec<String>,
    /// Init containers first, as they stand, then the others.
    pub(super) containers: Vec<Container>,
    /// Conditions that somebody else must set for the pod to be ready, and what they are.
    pub(super) gates: Vec<(String, Option<String>)>,
    pub(super) deletion: Option<Deletion>,
}

/// Whose network a pod uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    Own,
    Host,
}

/// Whether containers that exited are started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestartPolicy {
    Always,
    OnFailure,
    Never,
}

/// A deletion that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deletion {
    /// When patience ends.
    pub(super) deadline: Timestamp,
    /// How long it was in all.
    pub(super) grace: Duration,
}

/// One container and how it behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) role: Role,
    pub(super) pull_policy: PullPolicy,
    /// What its environment is read from.
    pub(super) environment: Environment,
    pub(super) startup: Option<Probe>,
    pub(super) readiness: Option<Probe>,
    pub(super) liveness: Option<Probe>,
    pub(super) behaviour: Behaviour,
}

/// When an image is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PullPolicy {
    Always,
    IfNotPresent,
    Never,
}

/// What a container is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Runs to its end before what follows.
    Init,
    /// Starts before what follows and goes on beside it.
    Sidecar,
    /// One of those the pod is there for.
    Main,
}

/// When a probe is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    pub(super) initial_delay: Duration,
    pub(super) period: Duration,
    pub(super) successes: u32,
    /// So many failures in a row are one too many.
    pub(super) failures: u32,
    /// How long a container may take to stop that is killed because of this probe, if not as long as its pod.
    pub(super) grace: Option<Duration>,
}

/// How one container behaves, decided.
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
    /// How long it runs before its liveness probe fails; it always passes if there is none.
    pub(super) liveness_fails: Option<Duration>,
    /// How long it runs and how it then exits; it runs on if there is none.
    pub(super) exits: Option<PlannedExit>,
    pub(super) stop_takes: Duration,
}

/// An exit that a container is going to make by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedExit {
    /// So long after its start.
    pub(super) after: Duration,
    pub(super) code: i32,
    /// Whether it is killed because it uses too much memory.
    pub(super) out_of_memory: bool,
}

/// The exit code of a container that was killed.
pub(super) const KILLED: i32 = 137;
/// How long a pod may take to stop unless it says; Kubernetes' number.
const GRACE_SECONDS: i64 = 30;

/// How long a container with work to finish runs: an init container, and any that is not to be restarted always.
const TASK: Duration = Duration::from_secs(2);

impl Pod {
    /// Reads a pod that was bound to a node, and how it behaves.
    ///
    /// Annotations that make no sense are ignored, and told about.
    pub fn parse(pod: &wire::Pod, profile: &Profile) -> (Self, Vec<Event>) {
        let fallback = wire::PodSpec::default();
        let spec = pod.spec.as_ref().unwrap_or(&fallback);
        let meta = &pod.metadata;
        let uid = meta.uid.clone().unwrap_or_default();
        let restart = RestartPolicy::parse(spec.restart_policy.as_deref());
        let (said, complaints) = annotated(meta.annotations.iter().flatten());
        let container = |container: &wire::Container, role: Role| {
            let traits = profile.traits_of(container.image.as_deref().unwrap_or_default());
            let traits = match role {
                Role::Init => {
                    let own = traits.about_init_containers();
                    traits.overlaid(&own).overlaid(&said.about_init_containers())
                }
                Role::Sidecar | Role::Main => traits.overlaid(&said),
            };
            Container::parse(container, role, restart, &traits, &uid)
        };
        let init = spec.init_containers.iter().flatten();
        let init = init.map(|it| container(it, if is_always(it) { Role::Sidecar } else { Role::Init }));
        let main = spec.containers.iter().map(|it| container(it, Role::Main));
        let parsed = Self {
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
            containers: init.chain(main).collect(),
            gates: gates(spec, pod.status.as_ref()),
            deletion: Deletion::parse(pod),
            uid: uid.clone(),
        };
        (parsed, complaints)
    }

    /// The name it goes by in messages: `web-1_shop(uid)`.
    pub(super) fn long_name(&self) -> String {
        format!("{}_{}({})", self.name, self.namespace, self.uid)
    }

    pub(super) fn has_init_containers(&self) -> bool {
        self.containers.iter().any(|container| container.role != Role::Main)
    }
}

/// What the annotations say, and what is wrong with them.
fn annotated<'a>(annotations: impl Iterator<Item = (&'a String, &'a String)>) -> (Traits, Vec<Event>) {
    let (mut traits, mut complaints) = (Traits::default(), Vec::new());
    for (key, value) in annotations {
        let Some(name) = key.strip_prefix(ANNOTATION_PREFIX) else { continue };
        if let Err(problem) = traits.set(name, value) {
            complaints.push(words::invalid_annotation(&problem));
        }
    }
    (traits, complaints)
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

    /// When it was asked for.
    pub(super) fn asked(self) -> Timestamp {
        let grace = i64::try_from(self.grace.as_nanos()).unwrap_or(i64::MAX);
        Timestamp::from_nanos(self.deadline.as_nanos().saturating_sub(grace))
    }
}

impl Container {
    fn parse(
        container: &wire::Container,
        role: Role,
        restart: RestartPolicy,
        traits: &Traits,
        uid: &str,
    ) -> Self {
        let runs_on = match role {
            Role::Init => false,
            Role::Sidecar => true,
            Role::Main => restart == RestartPolicy::Always,
        };
        Self {
            name: container.name.clone(),
            image: container.image.clone().unwrap_or_default(),
            role,
            pull_policy: PullPolicy::parse(container.image_pull_policy.as_deref()),
            environment: Environment::parse(container),
            startup: container.startup_probe.as_ref().map(Probe::parse),
            readiness: container.readiness_probe.as_ref().map(Probe::parse),
            liveness: container.liveness_probe.as_ref().map(Probe::parse),
            behaviour: Behaviour::new(traits, runs_on, uid, &container.name),
        }
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
    fn new(traits: &Traits, runs_on: bool, uid: &str, container: &str) -> Self {
        let pick = |span: Option<Span>, purpose: &str| {
            let dice = Dice::of(uid, &format!("{container}/{purpose}"));
            span.map(|span| span.pick(dice))
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
        let crashes = pick(traits.crash_after, "exit").map(|after| crash(after, 1));
        let exits = match out_of_memory.into_iter().chain(crashes).min_by_key(|exit| exit.after) {
            Some(exit) => Some(exit),
            None if runs_on => None,
            None => Some(crash(TASK, 0)),
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
