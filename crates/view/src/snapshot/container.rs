//! A container of a pod: its state, its last exit and its probes.

use std::time::Duration;

use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// A container of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name in the pod.
    pub name: String,
    /// The image in its spec.
    pub image: String,
    /// When it runs.
    pub role: ContainerRole,
    /// Its current state.
    pub state: ContainerState,
    /// Its last exit, if it was restarted since.
    pub last_exit: Option<Exit>,
    /// How often it was restarted.
    pub restarts: i32,
    /// Its memory limit as written.
    pub memory_limit: Option<String>,
    /// The result of its readiness probe.
    pub ready: bool,
    /// The result of its startup probe.
    pub started: bool,
    /// Its startup probe.
    pub startup_probe: Option<Probe>,
    /// Its readiness probe.
    pub readiness_probe: Option<Probe>,
}

/// When a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerRole {
    /// It runs to completion before the others.
    Init,
    /// Regular containers and sidecars.
    Regular,
}

/// The state of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerState {
    /// It is not running (again) yet.
    WaitPolicy {
        /// May be empty.
        reason: String,
        /// The kubelet's message.
        message: String,
    },
    /// It runs.
    Running {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// It has ended.
    Ended(Exit),
}

/// The exit of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: i32,
    /// Such as `OOMKilled`.
    pub reason: String,
    /// Its termination message.
    pub message: String,
    /// When it ended.
    pub at: Option<Timestamp>,
}

/// A probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What is probed, such as `HTTP GET :8080/ready`.
    pub check: String,
    /// How long after the start of the container the probe may fail without consequence.
    pub failure_window: Duration,
}

impl Container {
    /// Whether it was OOM-killed, now or the last time.
    pub fn out_of_memory(&self) -> bool {
        self.exit().is_some_and(|exit| exit.reason == "OOMKilled")
    }

    /// Its exit: the current or the last one.
    pub fn exit(&self) -> Option<&Exit> {
        match &self.state {
            ContainerState::Ended(exit) => Some(exit),
            _ => self.last_exit.as_ref(),
        }
    }
}

/// The containers of a pod, init containers first.
pub(super) fn parse(spec: &wire::PodSpec, status: &wire::PodStatus) -> Vec<Container> {
    let role = |init: &wire::Container| match init.restart_policy.as_deref() {
        Some("Always") => ContainerRole::Regular,
        _ => ContainerRole::Init,
    };
    let inits = spec.init_containers.iter().flatten();
    let inits =
        inits.map(|init| Container::parse(init, role(init), status.init_container_statuses.as_deref()));
    let regular = spec.containers.iter();
    let regular = regular.map(|container| {
        Container::parse(container, ContainerRole::Regular, status.container_statuses.as_deref())
    });
    inits.chain(regular).collect()
}

impl Container {
    fn parse(
        spec: &wire::Container,
        role: ContainerRole,
        statuses: Option<&[wire::ContainerStatus]>,
    ) -> Self {
        let status = statuses.unwrap_or_default().iter().find(|status| status.name == spec.name);
        let last = status.and_then(|status| status.last_state.as_ref()?.terminated.as_ref());
        Self {
            name: spec.name.clone(),
            image: spec.image.clone().unwrap_or_default(),
            role,
            state: ContainerState::parse(status.and_then(|status| status.state.as_ref())),
            last_exit: last.map(Exit::parse),
            restarts: status.map_or(0, |status| status.restart_count),
            memory_limit: memory_limit(spec),
            ready: status.is_some_and(|status| status.ready),
            started: status.and_then(|status| status.started).unwrap_or(false),
            startup_probe: spec.startup_probe.as_ref().map(Probe::parse),
            readiness_probe: spec.readiness_probe.as_ref().map(Probe::parse),
        }
    }
}

fn memory_limit(spec: &wire::Container) -> Option<String> {
    let limits = spec.resources.as_ref()?.limits.as_ref()?;
    limits.get("memory").map(|limit| limit.0.clone())
}

impl ContainerState {
    fn parse(state: Option<&wire::ContainerState>) -> Self {
        let Some(state) = state else {
            return Self::WaitPolicy { reason: String::new(), message: String::new() };
        };
        if let Some(running) = &state.running {
            return Self::Running { since: running.started_at.as_ref().map(Timestamp::parse) };
        }
        if let Some(ended) = &state.terminated {
            return Self::Ended(Exit::parse(ended));
        }
        let waiting = state.waiting.clone().unwrap_or_default();
        Self::WaitPolicy {
            reason: waiting.reason.unwrap_or_default(),
            message: waiting.message.unwrap_or_default(),
        }
    }
}

impl Exit {
    fn parse(ended: &wire::ContainerStateTerminated) -> Self {
        Self {
            code: ended.exit_code,
            reason: ended.reason.clone().unwrap_or_default(),
            message: ended.message.clone().unwrap_or_default(),
            at: ended.finished_at.as_ref().map(Timestamp::parse),
        }
    }
}

impl Probe {
    fn parse(probe: &wire::Probe) -> Self {
        let seconds = |field: Option<i32>, default: u32| {
            u64::from(field.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(default))
        };
        let delay = seconds(probe.initial_delay_seconds, 0);
        let tries = seconds(probe.failure_threshold, 3);
        let failure_window = Duration::from_secs(delay + seconds(probe.period_seconds, 10) * tries);
        Self { check: check(probe), failure_window }
    }
}

fn check(probe: &wire::Probe) -> String {
    let number = |port: &IntOrString| match port {
        IntOrString::Int(port) => port.to_string(),
        IntOrString::String(port) => port.clone(),
    };
    if let Some(http) = &probe.http_get {
        return format!("HTTP GET :{}{}", number(&http.port), http.path.as_deref().unwrap_or("/"));
    }
    if let Some(tcp) = &probe.tcp_socket {
        return format!("TCP :{}", number(&tcp.port));
    }
    if let Some(grpc) = &probe.grpc {
        return format!("gRPC :{}", grpc.port);
    }
    let command = probe.exec.as_ref().and_then(|exec| exec.command.clone()).unwrap_or_default();
    format!("exec {}", command.join(" "))
}
