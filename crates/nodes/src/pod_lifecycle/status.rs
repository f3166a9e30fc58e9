//! The status of a pod.

use std::fmt::Write as _;

use gantry_model::Timestamp;
use gantry_rng::Rng;
use k8s_openapi::api::core::v1 as wire;

use super::container_run::{ContainerRun, CreateError, Phase, PullReport};
use super::exits::Exit;
use super::observed::ObservedRun;
use super::pod::{Container, Network, Role};
use super::pod_run::{Outcome, PodEnd, PodRun, Sandbox};
use super::resize::ContainerAmounts;
use super::{NodeContext, Pod, messages, resize};

/// The scheme of container IDs, which shows that these containers do not exist.
const RUNTIME: &str = "simulated";

/// The condition of a pod with a sandbox, and its reason if there is none.
const SANDBOX_READY: &str = "PodReadyToStartContainers";
const SANDBOX_NOT_READY: &str = "PodSandboxNotReady";

/// The conditions of a pod whose resources are being changed.
pub(crate) const RESIZE_PENDING: &str = "PodResizePending";
pub(crate) const RESIZE_IN_PROGRESS: &str = "PodResizeInProgress";

/// The condition of a pod that is ended in favour of others.
pub(super) const DISRUPTION_TARGET: &str = "DisruptionTarget";

/// Computes the status of a pod. Transition times of conditions are stored in the run.
pub(super) fn status(pod: &Pod, run: &mut PodRun, node: &NodeContext<'_>, now: Timestamp) -> wire::PodStatus {
    let outcome = run.outcome(pod);
    let conditions = conditions(pod, run, outcome, now);
    let has_sandbox = matches!(run.sandbox, Sandbox::Ready | Sandbox::Stopping | Sandbox::Stopped);
    // The pod is not reported as failed while a container is running.
    let ended_by = run.ended_by.as_ref().filter(|_| outcome.is_some()).map(PodEnd::status);
    let address = match pod.network {
        Network::Own => node.pod_address,
        Network::Host => node.address,
    };
    let has_sandbox = has_sandbox && !address.is_empty();
    let of = |wanted: fn(Role) -> bool| {
        let pairs =
            pod.containers.iter().zip(&run.containers).filter(|(container, _)| wanted(container.role));
        let statuses: Vec<_> = pairs
            .map(|(container, container_run)| container_status(pod, container, container_run, now))
            .collect();
        (!statuses.is_empty()).then_some(statuses)
    };
    let amounts = pod.is_real().then(|| resize::pod_amounts(pod, run));
    if let Some(PodEnd::Rejected(_)) = &run.ended_by {
        return wire::PodStatus {
            phase: Some("Failed".to_owned()),
            start_time: Some(run.started.render()),
            observed_generation: pod.generation,
            reason: ended_by.as_ref().map(|(reason, _)| (*reason).to_owned()),
            message: ended_by.map(|(_, message)| message),
            ..wire::PodStatus::default()
        };
    }
    wire::PodStatus {
        allocated_resources: amounts.as_ref().and_then(|(allocated, _)| resize::rendered(allocated)),
        resources: amounts.map(|(_, actual)| actual.render()),
        phase: Some(phase(pod, run, outcome).to_owned()),
        conditions: Some(conditions),
        host_ip: Some(node.address.to_owned()),
        host_ips: Some(vec![wire::HostIP { ip: node.address.to_owned() }]),
        pod_ip: has_sandbox.then(|| address.to_owned()),
        pod_ips: has_sandbox.then(|| vec![wire::PodIP { ip: address.to_owned() }]),
        start_time: Some(run.started.render()),
        init_container_statuses: of(|role| matches!(role, Role::Init | Role::Sidecar)),
        container_statuses: of(|role| role == Role::Main),
        ephemeral_container_statuses: of(|role| role == Role::Ephemeral),
        observed_generation: pod.generation,
        reason: ended_by.as_ref().map(|(reason, _)| (*reason).to_owned()),
        message: ended_by.map(|(_, message)| message),
        ..wire::PodStatus::default()
    }
}

fn phase(pod: &Pod, run: &PodRun, outcome: Option<Outcome>) -> &'static str {
    let unfinished_init =
        run.of_role(pod, Role::Init).any(|container_run| !matches!(container_run.phase, Phase::Done(_)));
    let never_ran =
        |container_run: &ContainerRun| !container_run.is_running() && container_run.last_exit().is_none();
    match outcome {
        Some(Outcome::Succeeded) => "Succeeded",
        Some(Outcome::Failed) => "Failed",
        None if unfinished_init || run.of_role(pod, Role::Main).any(never_ran) => "Pending",
        None => "Running",
    }
}

/// A condition without its transition time.
struct ConditionState {
    name: &'static str,
    holds: bool,
    reason: Option<&'static str>,
    message: Option<String>,
}

impl ConditionState {
    fn yes(name: &'static str) -> Self {
        Self { name, holds: true, reason: None, message: None }
    }

    fn no(name: &'static str, reason: &'static str, message: Option<String>) -> Self {
        Self { name, holds: false, reason: Some(reason), message }
    }

    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

fn conditions(
    pod: &Pod,
    run: &mut PodRun,
    outcome: Option<Outcome>,
    now: Timestamp,
) -> Vec<wire::PodCondition> {
    let in_use = run.sandbox == Sandbox::Ready && outcome.is_none();
    let prepared = match (in_use, run.sandbox) {
        (true, _) => ConditionState::yes(SANDBOX_READY),
        (false, Sandbox::Ready | Sandbox::Stopping | Sandbox::Stopped) => {
            ConditionState::no(SANDBOX_READY, SANDBOX_NOT_READY, Some("pod sandbox is not ready".to_owned()))
        }
        (false, Sandbox::Pending { .. } | Sandbox::Creating { .. }) => {
            ConditionState::no(SANDBOX_READY, SANDBOX_NOT_READY, Some("no pod sandbox exists".to_owned()))
        }
    };
    let resizing = resize_conditions(run);
    let disrupted = match &run.ended_by {
        Some(PodEnd::Evicted(eviction)) if eviction.is_disruption => Some(ConditionState {
            reason: Some("TerminationByKubelet"),
            message: Some(eviction.message.clone()),
            ..ConditionState::yes(DISRUPTION_TARGET)
        }),
        _ => None,
    };
    let conditions = [
        prepared,
        initialized(pod, run, outcome, now),
        ready(pod, run, outcome, now),
        containers_ready(pod, run, outcome, now).named("ContainersReady"),
        ConditionState::yes("PodScheduled"),
    ];
    conditions
        .into_iter()
        .chain(resizing)
        .chain(disrupted)
        .map(|condition| wire_condition(pod, run, condition, now))
        .collect()
}

/// Returns the conditions of a pod whose resources are being changed.
fn resize_conditions(run: &mut PodRun) -> Vec<ConditionState> {
    let pending = run.pending_resize.as_ref().map(|pending| ConditionState {
        reason: Some("Deferred"),
        message: Some(pending.message.clone()),
        ..ConditionState::yes(RESIZE_PENDING)
    });
    let error = run.resize_error().map(str::to_owned);
    let running = run.is_resizing.then(|| ConditionState {
        reason: error.is_some().then_some("Error"),
        message: error,
        ..ConditionState::yes(RESIZE_IN_PROGRESS)
    });
    for (name, exists) in [(RESIZE_PENDING, pending.is_some()), (RESIZE_IN_PROGRESS, running.is_some())] {
        if !exists {
            run.conditions.remove(name);
        }
    }
    pending.into_iter().chain(running).collect()
}

/// Returns the wire form of a condition, with its transition time.
fn wire_condition(
    pod: &Pod,
    run: &mut PodRun,
    condition: ConditionState,
    now: Timestamp,
) -> wire::PodCondition {
    let status = if condition.holds { "True" } else { "False" };
    let known = run.conditions.get(condition.name).filter(|(before, _)| before == status);
    let since = known.map_or(now, |(_, since)| *since);
    run.conditions.insert(condition.name.to_owned(), (status.to_owned(), since));
    wire::PodCondition {
        type_: condition.name.to_owned(),
        status: status.to_owned(),
        reason: condition.reason.map(str::to_owned),
        message: condition.message,
        last_transition_time: Some(since.render()),
        observed_generation: pod.generation,
        last_probe_time: None,
    }
}

fn initialized(pod: &Pod, run: &PodRun, outcome: Option<Outcome>, now: Timestamp) -> ConditionState {
    const NAME: &str = "Initialized";
    if outcome == Some(Outcome::Succeeded) {
        return ConditionState { reason: Some("PodCompleted"), ..ConditionState::yes(NAME) };
    }
    let main_began = run
        .of_role(pod, Role::Main)
        .any(|container_run| container_run.is_running() || container_run.last_exit().is_some());
    let incomplete = names(pod, run, |container, container_run| match container.role {
        Role::Main | Role::Ephemeral => false,
        Role::Init => !container_run.is_ready(container, now),
        Role::Sidecar => !container_run.is_started(container, now),
    });
    match incomplete {
        Some(names) if !main_began => {
            let message = format!("containers with incomplete status: [{names}]");
            ConditionState::no(NAME, "ContainersNotInitialized", Some(message))
        }
        _ => ConditionState::yes(NAME),
    }
}

fn ready(pod: &Pod, run: &PodRun, outcome: Option<Outcome>, now: Timestamp) -> ConditionState {
    const NAME: &str = "Ready";
    let containers = containers_ready(pod, run, outcome, now);
    if !containers.holds {
        return containers.named(NAME);
    }
    let closed = pod.gates.iter().filter_map(|(gate, status)| match status.as_deref() {
        Some("True") => None,
        Some(other) => {
            Some(format!("the status of pod readiness gate \"{gate}\" is not \"True\", but {other}"))
        }
        None => Some(format!("corresponding condition of pod readiness gate \"{gate}\" does not exist.")),
    });
    let closed: Vec<_> = closed.collect();
    if closed.is_empty() {
        return ConditionState::yes(NAME);
    }
    ConditionState::no(NAME, "ReadinessGatesNotReady", Some(closed.join(", ")))
}

fn containers_ready(pod: &Pod, run: &PodRun, outcome: Option<Outcome>, now: Timestamp) -> ConditionState {
    const NAME: &str = "ContainersReady";
    match outcome {
        Some(Outcome::Succeeded) => return ConditionState::no(NAME, "PodCompleted", None),
        Some(Outcome::Failed) => return ConditionState::no(NAME, "PodFailed", None),
        None => {}
    }
    let unready = names(pod, run, |container, container_run| {
        matches!(container.role, Role::Main | Role::Sidecar) && !container_run.is_ready(container, now)
    });
    match unready {
        Some(names) => {
            let message = format!("containers with unready status: [{names}]");
            ConditionState::no(NAME, "ContainersNotReady", Some(message))
        }
        None => ConditionState::yes(NAME),
    }
}

/// The names of the containers that match, separated by spaces; `None` if there are none.
fn names(pod: &Pod, run: &PodRun, fits: impl Fn(&Container, &ContainerRun) -> bool) -> Option<String> {
    let mut names = String::new();
    for (container, _) in pod
        .containers
        .iter()
        .zip(&run.containers)
        .filter(|(container, container_run)| fits(container, container_run))
    {
        let space = if names.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(names, "{space}{}", container.name);
    }
    (!names.is_empty()).then_some(names)
}

/// Returns the statuses of all containers.
pub(super) fn container_statuses(status: &wire::PodStatus) -> impl Iterator<Item = &wire::ContainerStatus> {
    let lists =
        [&status.init_container_statuses, &status.container_statuses, &status.ephemeral_container_statuses];
    lists.into_iter().flatten().flatten()
}

fn container_status(
    pod: &Pod,
    container: &Container,
    container_run: &ContainerRun,
    now: Timestamp,
) -> wire::ContainerStatus {
    let ran = container_run.is_running() || container_run.last_exit().is_some();
    let id = |run: ContainerRunRef| container_id(pod, container, container_run, run);
    let last = match (&container_run.phase, &container_run.restarting) {
        (Phase::BackingOff { exit, .. }, _)
        | (Phase::CreateFailed { .. } | Phase::PullFailed { .. }, Some(exit)) => {
            Some((*exit, ContainerRunRef::Current))
        }
        (Phase::Exited(exit), _) if container_run.start_error().is_some() => {
            Some((*exit, ContainerRunRef::Current))
        }
        _ => container_run.last.map(|exit| (exit, ContainerRunRef::Previous)),
    };
    let (image, image_id) = match container_run.observed.as_deref().filter(|_| ran) {
        Some(observed) => {
            let identity = &observed.current.identity;
            (identity.image.clone(), identity.image_id.clone())
        }
        None if ran => (messages::full_name(&container.image), messages::image_id(&container.image)),
        None => (container.image.clone(), String::new()),
    };
    let last_state = last.map(|(exit, run)| terminated(exit, container_run.observed_run(run), id(run)));
    wire::ContainerStatus {
        name: container.name.clone(),
        image,
        image_id,
        container_id: ran.then(|| id(ContainerRunRef::Current)),
        ready: container_run.is_ready(container, now),
        started: Some(container_run.is_started(container, now)),
        restart_count: container_run.restarts,
        state: Some(state(pod, container, container_run, id(ContainerRunRef::Current))),
        last_state: Some(last_state.unwrap_or_default()),
        ..of_spec(container, container_run)
    }
}

/// Returns the fields of a real container's spec that its status repeats, with the resources that it was given.
fn of_spec(container: &Container, container_run: &ContainerRun) -> wire::ContainerStatus {
    let Some(requested) = &container.requested else { return wire::ContainerStatus::default() };
    let allocated =
        container_run.allocated(container).and_then(|allocated| resize::rendered(&allocated.requests));
    wire::ContainerStatus {
        allocated_resources: allocated,
        resources: container_run.actual(container).map(ContainerAmounts::render),
        volume_mounts: requested.mounts.clone(),
        ..wire::ContainerStatus::default()
    }
}

/// A run of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContainerRunRef {
    /// The run that is in progress or ended last.
    Current,
    /// The previous run.
    Previous,
}

fn container_id(
    pod: &Pod,
    container: &Container,
    container_run: &ContainerRun,
    run: ContainerRunRef,
) -> String {
    if let Some(observed) = container_run.observed_run(run) {
        return observed.identity.id.clone();
    }
    let restarts = container_run.restarts - i32::from(run == ContainerRunRef::Previous);
    simulated_container_id(&pod.uid, &container.name, restarts)
}

/// Returns the ID of a simulated container of the pod with this uid, after that many restarts.
pub fn simulated_container_id(uid: &str, container: &str, restarts: i32) -> String {
    let purpose = format!("{container}/container/{restarts}");
    format!("{RUNTIME}://{}", Rng::keyed(uid, &purpose).hex(64))
}

impl ContainerRun {
    /// Returns what the runtime reported of a run, if it is a real container.
    fn observed_run(&self, run: ContainerRunRef) -> Option<&ObservedRun> {
        self.observed.as_ref().map(|observed| match run {
            ContainerRunRef::Current => &observed.current,
            ContainerRunRef::Previous => &observed.previous,
        })
    }

    /// Returns why it could not be run although it was created.
    fn start_error(&self) -> Option<&(&'static str, String)> {
        self.observed.as_ref()?.current.start_error.as_ref()
    }

    /// Returns why its image could not be pulled.
    fn pull_error(&self, container: &Container) -> String {
        match &self.observed {
            Some(observed) => observed.pull_error.clone(),
            None => messages::pull_error(&container.image),
        }
    }
}

fn state(pod: &Pod, container: &Container, container_run: &ContainerRun, id: String) -> wire::ContainerState {
    let pull_back_off = || {
        let why = container_run.pull_error(container);
        waiting("ImagePullBackOff", Some(messages::pull_back_off(&container.image, &why)))
    };
    match &container_run.phase {
        Phase::Running { since } | Phase::Stopping { since, .. } => wire::ContainerState {
            running: Some(wire::ContainerStateRunning { started_at: Some(since.render()) }),
            ..wire::ContainerState::default()
        },
        Phase::Exited(exit) | Phase::Done(exit) => {
            match (&container_run.phase, container_run.start_error()) {
                (Phase::Exited(_), Some((reason, message))) => waiting(reason, Some(message.clone())),
                _ => terminated(*exit, container_run.observed_run(ContainerRunRef::Current), id),
            }
        }
        Phase::BackingOff { delay, .. } => {
            waiting("CrashLoopBackOff", Some(messages::crash_loop(&container.name, pod, *delay)))
        }
        Phase::CreateFailed { error, .. } | Phase::Pulling { create_error: Some(error), .. } => {
            create_failed(error, container)
        }
        Phase::PullFailed { reported: PullReport::Error, .. } => {
            waiting("ErrImagePull", Some(container_run.pull_error(container)))
        }
        // During a retried pull, the result of the previous one is reported.
        Phase::PullFailed { reported: PullReport::BackOff, .. } => pull_back_off(),
        Phase::Pulling { tries, .. } if *tries > 0 => pull_back_off(),
        Phase::Pending | Phase::Inspecting | Phase::Pulling { .. } | Phase::Starting { .. } => {
            match container_run.restarting {
                Some(exit) => terminated(exit, container_run.observed_run(ContainerRunRef::Current), id),
                None if pod.has_init_containers() && container.role != Role::Ephemeral => {
                    waiting("PodInitializing", None)
                }
                None => waiting("ContainerCreating", None),
            }
        }
    }
}

fn create_failed(error: &CreateError, container: &Container) -> wire::ContainerState {
    match error {
        CreateError::ImageName(why) => waiting("InvalidImageName", Some(why.clone())),
        CreateError::NeverPulled => {
            waiting("ErrImageNeverPull", Some(messages::never_pull(&container.image)))
        }
        CreateError::Configuration(why) => waiting("CreateContainerConfigError", Some(why.clone())),
        CreateError::Runtime(why) => waiting("CreateContainerError", Some(why.clone())),
    }
}

fn waiting(reason: &str, message: Option<String>) -> wire::ContainerState {
    wire::ContainerState {
        waiting: Some(wire::ContainerStateWaiting { reason: Some(reason.to_owned()), message }),
        ..wire::ContainerState::default()
    }
}

fn terminated(exit: Exit, observed: Option<&ObservedRun>, id: String) -> wire::ContainerState {
    let reported = observed.and_then(|observed| observed.reason.clone()).filter(|reason| !reason.is_empty());
    wire::ContainerState {
        terminated: Some(wire::ContainerStateTerminated {
            container_id: Some(id),
            exit_code: exit.code,
            reason: Some(reported.unwrap_or_else(|| exit.reason().to_owned())),
            message: observed.and_then(|observed| observed.message.clone()),
            started_at: Some(exit.started.render()),
            finished_at: Some(exit.finished.render()),
            ..wire::ContainerStateTerminated::default()
        }),
        ..wire::ContainerState::default()
    }
}
