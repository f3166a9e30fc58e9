//! What a node reports of a pod.

use std::fmt::Write as _;

use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;

use super::containers::{Course, Phase, Problem, PullTold};
use super::exits::Exit;
use super::pod::{Container, Network, Role};
use super::run::{Outcome, Run, Sandbox};
use super::{Host, Pod, words};
use crate::behaviour::Dice;

/// The scheme of container ids: nobody should look for these containers.
const RUNTIME: &str = "simulated";

/// The condition of a pod whose network and volumes are there, and why they are not.
const PREPARED: &str = "PodReadyToStartContainers";
const NOT_PREPARED: &str = "PodSandboxNotReady";

/// The status of a pod. Conditions that changed are remembered in the run with the time they did.
pub(super) fn status(pod: &Pod, run: &mut Run, host: &Host<'_>, now: Timestamp) -> wire::PodStatus {
    let outcome = run.outcome(pod);
    let conditions = conditions(pod, run, outcome, now);
    let up = run.sandbox == Sandbox::Up;
    // As long as a container runs, the pod is not reported as failed.
    let expired = run.deadline_exceeded && outcome.is_some();
    let address = match pod.network {
        Network::Own => host.pod_address,
        Network::Host => host.address,
    };
    let of = |wanted: fn(Role) -> bool| {
        let pairs = pod.containers.iter().zip(&run.courses).filter(|(container, _)| wanted(container.role));
        let statuses: Vec<_> =
            pairs.map(|(container, course)| container_status(pod, container, course, now)).collect();
        (!statuses.is_empty()).then_some(statuses)
    };
    wire::PodStatus {
        phase: Some(phase(pod, run, outcome).to_owned()),
        conditions: Some(conditions),
        host_ip: Some(host.address.to_owned()),
        host_ips: Some(vec![wire::HostIP { ip: host.address.to_owned() }]),
        pod_ip: up.then(|| address.to_owned()),
        pod_ips: up.then(|| vec![wire::PodIP { ip: address.to_owned() }]),
        start_time: Some(run.began.render()),
        init_container_statuses: of(|role| role != Role::Main),
        container_statuses: of(|role| role == Role::Main),
        observed_generation: pod.generation,
        reason: expired.then(|| words::DEADLINE_EXCEEDED.to_owned()),
        message: expired.then(|| words::DEADLINE_MESSAGE.to_owned()),
        ..wire::PodStatus::default()
    }
}

fn phase(pod: &Pod, run: &Run, outcome: Option<Outcome>) -> &'static str {
    let unfinished_init = run.of_role(pod, Role::Init).any(|course| !matches!(course.phase, Phase::Done(_)));
    let never_ran = |course: &Course| !course.is_running() && course.last_exit().is_none();
    match outcome {
        Some(Outcome::Succeeded) => "Succeeded",
        Some(Outcome::Failed) => "Failed",
        None if unfinished_init || run.of_role(pod, Role::Main).any(never_ran) => "Pending",
        None => "Running",
    }
}

/// A condition before it is known since when it holds.
struct Finding {
    name: &'static str,
    holds: bool,
    reason: Option<&'static str>,
    message: Option<String>,
}

impl Finding {
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

fn conditions(pod: &Pod, run: &mut Run, outcome: Option<Outcome>, now: Timestamp) -> Vec<wire::PodCondition> {
    let in_use = run.sandbox == Sandbox::Up && outcome.is_none();
    let prepared = match (in_use, run.sandbox) {
        (true, _) => Finding::yes(PREPARED),
        (false, Sandbox::Up) => {
            Finding::no(PREPARED, NOT_PREPARED, Some("pod sandbox is not ready".to_owned()))
        }
        (false, Sandbox::Coming { .. }) => {
            Finding::no(PREPARED, NOT_PREPARED, Some("no pod sandbox exists".to_owned()))
        }
    };
    let findings = [
        prepared,
        initialized(pod, run, outcome, now),
        ready(pod, run, outcome, now),
        containers_ready(pod, run, outcome, now).named("ContainersReady"),
        Finding::yes("PodScheduled"),
    ];
    findings.map(|finding| condition(pod, run, finding, now)).into()
}

/// The condition on the wire, with the time of its last change.
fn condition(pod: &Pod, run: &mut Run, finding: Finding, now: Timestamp) -> wire::PodCondition {
    let status = if finding.holds { "True" } else { "False" };
    let known = run.conditions.get(finding.name).filter(|(before, _)| before == status);
    let since = known.map_or(now, |(_, since)| *since);
    run.conditions.insert(finding.name.to_owned(), (status.to_owned(), since));
    wire::PodCondition {
        type_: finding.name.to_owned(),
        status: status.to_owned(),
        reason: finding.reason.map(str::to_owned),
        message: finding.message,
        last_transition_time: Some(since.render()),
        observed_generation: pod.generation,
        last_probe_time: None,
    }
}

fn initialized(pod: &Pod, run: &Run, outcome: Option<Outcome>, now: Timestamp) -> Finding {
    const NAME: &str = "Initialized";
    if outcome == Some(Outcome::Succeeded) {
        return Finding { reason: Some("PodCompleted"), ..Finding::yes(NAME) };
    }
    let main_began =
        run.of_role(pod, Role::Main).any(|course| course.is_running() || course.last_exit().is_some());
    let incomplete = names(pod, run, |container, course| match container.role {
        Role::Main => false,
        Role::Init => !course.is_ready(container, now),
        Role::Sidecar => !course.is_started(container, now),
    });
    match incomplete {
        Some(names) if !main_began => {
            let message = format!("containers with incomplete status: [{names}]");
            Finding::no(NAME, "ContainersNotInitialized", Some(message))
        }
        _ => Finding::yes(NAME),
    }
}

fn ready(pod: &Pod, run: &Run, outcome: Option<Outcome>, now: Timestamp) -> Finding {
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
        return Finding::yes(NAME);
    }
    Finding::no(NAME, "ReadinessGatesNotReady", Some(closed.join(", ")))
}

fn containers_ready(pod: &Pod, run: &Run, outcome: Option<Outcome>, now: Timestamp) -> Finding {
    const NAME: &str = "ContainersReady";
    match outcome {
        Some(Outcome::Succeeded) => return Finding::no(NAME, "PodCompleted", None),
        Some(Outcome::Failed) => return Finding::no(NAME, "PodFailed", None),
        None => {}
    }
    let unready =
        names(pod, run, |container, course| container.role != Role::Init && !course.is_ready(container, now));
    match unready {
        Some(names) => {
            let message = format!("containers with unready status: [{names}]");
            Finding::no(NAME, "ContainersNotReady", Some(message))
        }
        None => Finding::yes(NAME),
    }
}

/// The names of the containers that fit, with spaces between; `None` if there are none.
fn names(pod: &Pod, run: &Run, fits: impl Fn(&Container, &Course) -> bool) -> Option<String> {
    let mut names = String::new();
    for (container, _) in
        pod.containers.iter().zip(&run.courses).filter(|(container, course)| fits(container, course))
    {
        let space = if names.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(names, "{space}{}", container.name);
    }
    (!names.is_empty()).then_some(names)
}

fn container_status(
    pod: &Pod,
    container: &Container,
    course: &Course,
    now: Timestamp,
) -> wire::ContainerStatus {
    let id = |restarts: i32| {
        let purpose = format!("{}/container/{restarts}", container.name);
        format!("{RUNTIME}://{}", Dice::of(&pod.uid, &purpose).hex(64))
    };
    let ran = course.is_running() || course.last_exit().is_some();
    let last = match &course.phase {
        Phase::BackingOff { exit, .. } | Phase::Held { exit: Some(exit), .. } => {
            Some((*exit, course.restarts))
        }
        _ => course.last.map(|exit| (exit, course.restarts - 1)),
    };
    wire::ContainerStatus {
        name: container.name.clone(),
        image: if ran { words::full_name(&container.image) } else { container.image.clone() },
        image_id: if ran { words::image_id(&container.image) } else { String::new() },
        container_id: ran.then(|| id(course.restarts)),
        ready: course.is_ready(container, now),
        started: Some(course.is_started(container, now)),
        restart_count: course.restarts,
        state: Some(state(pod, container, course, id(course.restarts))),
        last_state: Some(last.map(|(exit, restarts)| terminated(exit, id(restarts))).unwrap_or_default()),
        ..wire::ContainerStatus::default()
    }
}

fn state(pod: &Pod, container: &Container, course: &Course, id: String) -> wire::ContainerState {
    match &course.phase {
        Phase::Running { since } | Phase::Killed { since, .. } => wire::ContainerState {
            running: Some(wire::ContainerStateRunning { started_at: Some(since.render()) }),
            ..wire::ContainerState::default()
        },
        Phase::Exited(exit) | Phase::Done(exit) => terminated(*exit, id),
        Phase::BackingOff { delay, .. } => {
            waiting("CrashLoopBackOff", Some(words::crash_loop(&container.name, pod, *delay)))
        }
        Phase::Held { problem, .. } | Phase::Pulling { held: Some(problem), .. } => held(problem, container),
        Phase::PullFailed { told: PullTold::Error, .. } => {
            waiting("ErrImagePull", Some(words::pull_error(&container.image)))
        }
        Phase::PullFailed { told: PullTold::BackOff, .. } => {
            waiting("ImagePullBackOff", Some(words::pull_back_off(&container.image)))
        }
        // A pull that is tried again shows what came of the last one.
        Phase::Pulling { tries, .. } if *tries > 0 => {
            waiting("ImagePullBackOff", Some(words::pull_back_off(&container.image)))
        }
        Phase::Idle | Phase::Pulling { .. } | Phase::Starting { .. } if pod.has_init_containers() => {
            waiting("PodInitializing", None)
        }
        Phase::Idle | Phase::Pulling { .. } | Phase::Starting { .. } => waiting("ContainerCreating", None),
    }
}

fn held(problem: &Problem, container: &Container) -> wire::ContainerState {
    match problem {
        Problem::ImageName(why) => waiting("InvalidImageName", Some(why.clone())),
        Problem::NeverPulled => waiting("ErrImageNeverPull", Some(words::never_pulled(&container.image))),
        Problem::Configuration(why) => waiting("CreateContainerConfigError", Some(why.clone())),
    }
}

fn waiting(reason: &str, message: Option<String>) -> wire::ContainerState {
    wire::ContainerState {
        waiting: Some(wire::ContainerStateWaiting { reason: Some(reason.to_owned()), message }),
        ..wire::ContainerState::default()
    }
}

fn terminated(exit: Exit, id: String) -> wire::ContainerState {
    wire::ContainerState {
        terminated: Some(wire::ContainerStateTerminated {
            container_id: Some(id),
            exit_code: exit.code,
            reason: Some(exit.reason().to_owned()),
            started_at: Some(exit.started.render()),
            finished_at: Some(exit.finished.render()),
            ..wire::ContainerStateTerminated::default()
        }),
        ..wire::ContainerState::default()
    }
}
