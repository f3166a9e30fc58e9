//! A container of a pod: what it does, how it last ended, and who asks it how it is.

use std::time::Duration;

use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// A container of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name in the pod.
    pub name: String,
    /// The image it is asked to run.
    pub image: String,
    /// When it runs.
    pub role: ContainerRole,
    /// What it does now.
    pub state: ContainerState,
    /// How it last ended, if it was started again since.
    pub last_exit: Option<Exit>,
    /// How often it was started again.
    pub restarts: i32,
    /// Its memory limit as it is written, if it has one.
    pub memory_limit: Option<String>,
    /// Whether its probe, if it has one, says that it serves.
    pub ready: bool,
    /// Whether its startup probe, if it has one, has succeeded.
    pub started: bool,
    /// Who asks whether it has started.
    pub startup_probe: Option<Probe>,
    /// Who asks whether it serves.
    pub readiness_probe: Option<Probe>,
}

/// When a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerRole {
    /// To its end, before the others.
    Init,
    /// Beside the others: the regular ones and sidecars.
    Regular,
}

/// What a container does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerState {
    /// It does not run yet, or not yet again.
    Waiting {
        /// One word, empty if there is none.
        reason: String,
        /// What the node said.
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

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: i32,
    /// One word, such as `OOMKilled`.
    pub reason: String,
    /// What it left behind to say.
    pub message: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// A question that the node asks a container again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What is asked, such as `HTTP GET :8080/ready`.
    pub question: String,
    /// How long after the start of the container so many answers may have been bad that it counts as failed.
    pub patience: Duration,
}

impl Container {
    /// Whether it was killed for using more memory than it may, now or the last time.
    pub fn out_of_memory(&self) -> bool {
        self.exit().is_some_and(|exit| exit.reason == "OOMKilled")
    }

    /// How it ended: now, or the last time.
    pub fn exit(&self) -> Option<&Exit> {
        match &self.state {
            ContainerState::Ended(exit) => Some(exit),
            _ => self.last_exit.as_ref(),
        }
    }
}

/// The containers of a pod, those that run before the others first.
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
            return Self::Waiting { reason: String::new(), message: String::new() };
        };
        if let Some(running) = &state.running {
            return Self::Running { since: running.started_at.as_ref().map(Timestamp::parse) };
        }
        if let Some(ended) = &state.terminated {
            return Self::Ended(Exit::parse(ended));
        }
        let waiting = state.waiting.clone().unwrap_or_default();
        Self::Waiting {
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
        let patience = Duration::from_secs(delay + seconds(probe.period_seconds, 10) * tries);
        Self { question: question(probe), patience }
    }
}

fn question(probe: &wire::Probe) -> String {
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
