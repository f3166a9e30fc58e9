//! The runtime state of one container: pulled, started, running, exited, restarted.
//!
//! The steps are the same for simulated and real containers. The time and the result of a step are computed from the
//! behaviour of a [simulated](super::simulated) container, and [reported](super::observed) by the runtime of a real
//! one, which gets a [`RuntimeAction`] for each step.

use std::time::Duration;

use gantry_model::Timestamp;
use gantry_rng::Rng;

use super::actions::{ContainerExit, ContainerProbe, ProbeResult, RuntimeAction, StartFailure, StartStep};
use super::exits::{Exit, ExitCause, back_off, is_final};
use super::observed::Observed;
use super::pod::{Container, PullPolicy, Role};
use super::pod_run::SyncOutput;
use super::simulated::RunEnd;
use super::{NodeContext, Pod, image_name, messages, readiness};
use crate::behaviour::Pull;

/// The runtime state of one container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ContainerRun {
    pub(super) phase: Phase,
    pub(super) restarts: i32,
    /// Restarts since it last ran long enough to reset the backoff.
    pub(super) recent_restarts: u32,
    /// The exit of its previous run.
    pub(super) last: Option<Exit>,
    /// The exit for which it is being restarted.
    pub(super) restarting: Option<Exit>,
    /// Since when it is being stopped with its pod.
    pub(super) stopping: Option<Timestamp>,
    /// Whether an event about its failed readiness probe was recorded.
    pub(super) unready_reported: bool,
    /// The number of recorded failures of its startup probe.
    pub(super) startup_failures_reported: u32,
    /// The number of recorded failures of its liveness probe.
    pub(super) liveness_failures_reported: u32,
    /// The reports of the runtime, if it is a real container.
    pub(super) observed: Option<Box<Observed>>,
}

/// The phase of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not started: containers before it are not done.
    #[default]
    Pending,
    /// The runtime is inspecting whether its image is on the node.
    Inspecting,
    /// Its image is being pulled.
    Pulling {
        since: Timestamp,
        tries: u32,
        /// Why the previous creation failed: reported until the pull is done.
        create_error: Option<CreateError>,
    },
    /// The pull failed; it is reported and retried with backoff.
    PullFailed {
        since: Timestamp,
        tries: u32,
        reported: PullReport,
    },
    /// It could not be created; it is reported and retried.
    CreateFailed {
        since: Timestamp,
        error: CreateError,
    },
    /// It is being created.
    Starting {
        since: Timestamp,
    },
    Running {
        since: Timestamp,
    },
    /// It is being stopped because a probe failed too often. A simulated one ends at that time, with this code.
    Stopping {
        since: Timestamp,
        until: Timestamp,
        code: i32,
    },
    /// It exited, and the kubelet has not handled that yet.
    Exited(Exit),
    /// It exited and is restarted after a delay.
    BackingOff {
        exit: Exit,
        delay: Duration,
    },
    /// It exited and is not restarted.
    Done(Exit),
}

/// Why a container could not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CreateError {
    /// The name of its image is invalid.
    ImageName(String),
    /// Its image is not on the node and its pull policy is `Never`.
    NeverPulled,
    /// An object or key that its environment is read from is missing.
    Configuration(String),
    /// The runtime could not create it.
    Runtime(String),
}

/// The reported reason for an image that could not be pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PullReport {
    Error,
    BackOff,
}

/// A container that ran for that long is restarted without backoff.
const BACK_OFF_RESET_AFTER: Duration = Duration::from_mins(10);
/// How long a kubelet takes to detect that a container exited or that a pull failed.
const DETECTION_DELAY: Duration = Duration::from_secs(1);
/// The minimum and maximum interval at which a kubelet retries the creation of a container.
const SYNC_INTERVAL_MILLIS: (u64, u64) = (10_000, 15_000);

/// The inputs of a container's next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContainerContext<'a> {
    pub(super) container: &'a Container,
    pub(super) pod: &'a Pod,
    pub(super) node: &'a NodeContext<'a>,
    /// Since when the pod is being stopped.
    pub(super) stopping: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl ContainerRun {
    /// Checks the image name and pulls the image if necessary.
    pub(super) fn begin(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, .. } = context;
        if let Some(problem) = image_name::parse_error(&container.image) {
            self.fail_creation(CreateError::ImageName(problem), context, output);
            return;
        }
        let Some(present) = self.is_image_present(context, output) else {
            output.actions.push(RuntimeAction::InspectImage { container: container.name.clone() });
            self.phase = Phase::Inspecting;
            return;
        };
        match container.pull_policy {
            PullPolicy::Never if !present => {
                self.fail_creation(CreateError::NeverPulled, context, output);
            }
            PullPolicy::Never | PullPolicy::IfNotPresent if present => {
                output.record(container, messages::image_present(&container.image));
                self.create(context, output);
            }
            _ => self.pull(0, context, output),
        }
    }

    /// Whether the image is on the node; `None` if that must be inspected first.
    fn is_image_present(&mut self, context: ContainerContext<'_>, output: &SyncOutput) -> Option<bool> {
        let ContainerContext { container, node, .. } = context;
        match &container.behaviour {
            Some(behaviour) => Some(
                behaviour.pull == Pull::Present
                    || node.images.contains(&container.image)
                    || output.pulled.contains(&container.image),
            ),
            None => self.observed_mut().image_present.take(),
        }
    }

    /// Carries out one step if one is due. Returns whether it did.
    pub(super) fn step(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) -> bool {
        let ContainerContext { container, pod, now, .. } = context;
        self.record_failed_probes(container, now, output);
        self.run_probes(context, output);
        self.resize(context, output);
        if self.due(container, pod, context.stopping).is_none_or(|due| due > now) {
            return false;
        }
        match self.phase.clone() {
            Phase::Pending | Phase::Done(_) => return false,
            Phase::Inspecting => self.begin(context, output),
            Phase::Pulling { since, tries, .. } => self.pulled(since, tries, context, output),
            Phase::PullFailed { tries, reported: PullReport::BackOff, .. } => {
                self.pull(tries, context, output);
            }
            Phase::PullFailed { since, tries, reported: PullReport::Error } => {
                output.record_all(container, messages::pull_back_off_events(&container.image));
                self.phase = Phase::PullFailed { since, tries, reported: PullReport::BackOff };
            }
            Phase::Starting { .. } => self.started(context, output),
            Phase::Running { since } => self.end_run(since, context, output),
            Phase::Stopping { code, .. } => self.exit(code, ExitCause::Exit, now),
            Phase::Exited(exit) => self.after_exit(exit, context, output),
            Phase::BackingOff { exit, .. } => self.restart(exit, context, output),
            Phase::CreateFailed { .. } => match self.restarting {
                Some(exit) => self.restart(exit, context, output),
                None => self.begin(context, output),
            },
        }
        true
    }

    /// Returns when the next step is due or readiness changes.
    pub(super) fn wake(
        &self,
        container: &Container,
        pod: &Pod,
        stopping: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let probes = match self.phase {
            Phase::Running { since } => match container.simulated() {
                Some(simulated) => readiness::next_change(simulated, since, now),
                None => self.next_probe(container, since),
            },
            _ => None,
        };
        self.due(container, pod, stopping).into_iter().chain(probes).min()
    }

    fn next_probe(&self, container: &Container, since: Timestamp) -> Option<Timestamp> {
        let observed = self.observed.as_deref()?;
        observed.next_probes(container, since, self.stopping.is_some()).map(|(_, next)| next).min()
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running { .. } | Phase::Stopping { .. })
    }

    /// Whether a sync now may create the container, which reads the objects of its environment.
    pub(super) fn may_be_created(&self, container: &Container, pod: &Pod, now: Timestamp) -> bool {
        match self.phase {
            Phase::Pending => true,
            Phase::Running { .. } | Phase::Stopping { .. } | Phase::Starting { .. } | Phase::Done(_) => false,
            // A real image is inspected first.
            Phase::BackingOff { .. } | Phase::Exited(_) if container.behaviour.is_none() => false,
            _ => self.due(container, pod, None).is_some_and(|due| due <= now),
        }
    }

    pub(super) fn is_started(&self, container: &Container, now: Timestamp) -> bool {
        let Phase::Running { since } = self.phase else { return false };
        match container.simulated() {
            Some(simulated) => readiness::is_started(simulated, since, now),
            None => self.observed.as_ref().is_some_and(|observed| observed.is_started(container)),
        }
    }

    pub(super) fn is_ready(&self, container: &Container, now: Timestamp) -> bool {
        match self.phase {
            // An init container is ready when it has completed; an ephemeral one never is.
            Phase::Running { since } if matches!(container.role, Role::Main | Role::Sidecar) => {
                match container.simulated() {
                    Some(simulated) => readiness::is_ready(simulated, since, now),
                    None => self.observed.as_ref().is_some_and(|observed| observed.is_ready(container)),
                }
            }
            Phase::Done(exit) => container.role == Role::Init && exit.code == 0,
            _ => false,
        }
    }

    /// Returns its latest exit.
    pub(super) fn last_exit(&self) -> Option<Exit> {
        match self.phase {
            Phase::Exited(exit) | Phase::BackingOff { exit, .. } | Phase::Done(exit) => Some(exit),
            _ => self.restarting.or(self.last),
        }
    }

    /// Prevents further starts; a running container keeps running, and a real one that is being started is waited for.
    pub(super) fn stop_restarting(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Running { since } => Phase::Running { since },
            Phase::Stopping { since, until, code } => Phase::Stopping { since, until, code },
            Phase::Starting { since } if self.observed.is_some() => Phase::Starting { since },
            Phase::Exited(exit) | Phase::BackingOff { exit, .. } | Phase::Done(exit) => Phase::Done(exit),
            _ => self.restarting.take().map_or(Phase::Pending, Phase::Done),
        };
    }

    /// Whether it runs, or may run soon because the runtime is starting it.
    pub(super) fn is_active(&self) -> bool {
        self.is_running() || (self.observed.is_some() && matches!(self.phase, Phase::Starting { .. }))
    }

    /// Stops a running container within this grace period, as part of stopping its pod or because it is no longer needed.
    pub(super) fn stop(&mut self, grace: Duration, context: ContainerContext<'_>, output: &mut SyncOutput) {
        self.stopping = Some(context.now);
        self.send_stop(grace, context, output);
    }

    /// Sends the runtime of a real container the action to stop it.
    pub(super) fn send_stop(
        &mut self,
        grace: Duration,
        context: ContainerContext<'_>,
        output: &mut SyncOutput,
    ) {
        if context.container.behaviour.is_some() {
            return;
        }
        self.observed_mut().stop_deadline = Some(context.now.plus(grace));
        output
            .actions
            .push(RuntimeAction::StopContainer { container: context.container.name.clone(), grace });
    }

    /// Stops a real container earlier than was requested, if the grace period of its pod was made shorter.
    pub(super) fn hasten_stop(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let Some(deletion) = context.pod.deletion else { return };
        let deadline = self.observed.as_ref().and_then(|observed| observed.stop_deadline);
        // Times of deletions are in whole seconds.
        if deadline.is_some_and(|deadline| deadline > deletion.deadline.plus(Duration::from_secs(1))) {
            self.send_stop(deletion.deadline.since(context.now), context, output);
        }
    }

    pub(super) fn observed_mut(&mut self) -> &mut Observed {
        self.observed.get_or_insert_default()
    }

    pub(super) fn exit(&mut self, code: i32, cause: ExitCause, now: Timestamp) {
        let (Phase::Running { since: started } | Phase::Stopping { since: started, .. }) = self.phase else {
            return;
        };
        if let Some(observed) = &mut self.observed
            && let Some(exit) = observed.exit.take()
        {
            (observed.current.reason, observed.current.message) = (Some(exit.reason), exit.message);
            let cause = ExitCause::of(observed.current.reason.as_deref().unwrap_or_default());
            let exit = Exit { code: exit.code, cause, started: exit.started, finished: exit.finished };
            if exit.finished.since(exit.started) >= BACK_OFF_RESET_AFTER {
                self.recent_restarts = 0;
            }
            self.phase = Phase::Exited(exit);
            return;
        }
        if now.since(started) >= BACK_OFF_RESET_AFTER {
            self.recent_restarts = 0;
        }
        self.phase = Phase::Exited(Exit { code, cause, started, finished: now });
    }

    /// Returns when the next step is due.
    fn due(&self, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> Option<Timestamp> {
        match &self.phase {
            Phase::Pending | Phase::Done(_) => None,
            Phase::PullFailed { since, reported: PullReport::Error, .. } => Some(since.plus(DETECTION_DELAY)),
            Phase::PullFailed { since, tries, .. } => Some(since.plus(back_off(*tries))),
            Phase::CreateFailed { since, .. } => Some(since.plus(sync_interval(pod))),
            Phase::Exited(exit) if is_final(exit, container, pod, stopping) => Some(exit.finished),
            // The exit of a real container was detected when it was reported.
            Phase::Exited(exit) if container.behaviour.is_none() => Some(exit.finished),
            Phase::Exited(exit) => Some(exit.finished.plus(DETECTION_DELAY)),
            Phase::BackingOff { exit, delay } => Some(exit.finished.plus(*delay)),
            phase => match container.simulated() {
                Some(simulated) => simulated.due(phase, pod, self.stopping),
                None => self.observed.as_ref()?.due(phase, container),
            },
        }
    }

    /// Ends a running container: it was stopped, exits on its own, or a probe failed too often.
    fn end_run(&mut self, since: Timestamp, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, pod, now, .. } = context;
        let end = match container.simulated() {
            Some(simulated) => simulated.run_end(since, pod, self.stopping, now),
            None => self.observed_end(container),
        };
        match end {
            Some(RunEnd::Exits(code, cause)) => self.exit(code, cause, now),
            Some(RunEnd::Unhealthy(exceeded)) => {
                output.record(container, messages::failed_probe(&container.name, exceeded.probe));
                let grace = exceeded.grace.unwrap_or(pod.grace);
                let (until, code) =
                    container.simulated().map_or((now, 0), |simulated| simulated.stopped_within(grace, now));
                self.phase = Phase::Stopping { since, until, code };
                self.send_stop(grace, context, output);
            }
            None => {}
        }
    }

    fn observed_end(&self, container: &Container) -> Option<RunEnd> {
        let observed = self.observed.as_ref()?;
        if let Some(exit) = &observed.exit {
            return Some(RunEnd::Exits(exit.code, ExitCause::of(&exit.reason)));
        }
        let failed = observed.failed_probe(container)?;
        let grace = container.probe(failed).and_then(|probe| probe.grace);
        Some(RunEnd::Unhealthy(readiness::ExceededProbe { probe: failed.name(), grace }))
    }

    fn pull(&mut self, tries: u32, context: ContainerContext<'_>, output: &mut SyncOutput) {
        output.events.extend(messages::missing_pull_secrets(context.pod, context.node.references));
        output.record(context.container, messages::pulling(&context.container.image));
        let create_error = match std::mem::take(&mut self.phase) {
            Phase::CreateFailed { error, .. } => Some(error),
            _ => None,
        };
        if context.container.behaviour.is_none() {
            output.actions.push(RuntimeAction::PullImage { container: context.container.name.clone() });
        }
        self.phase = Phase::Pulling { since: context.now, tries, create_error };
    }

    fn pulled(
        &mut self,
        since: Timestamp,
        tries: u32,
        context: ContainerContext<'_>,
        output: &mut SyncOutput,
    ) {
        let ContainerContext { container, now, .. } = context;
        let result = match container.simulated() {
            Some(simulated) => simulated.pull_result(now.since(since)),
            None => match self.observed_mut().pull.take() {
                Some(result) => result,
                None => return,
            },
        };
        match result {
            Err(why) => {
                output.record_all(container, messages::pull_failed(&container.image, &why));
                if container.behaviour.is_none() {
                    self.observed_mut().pull_error = why;
                }
                self.phase = Phase::PullFailed { since: now, tries: tries + 1, reported: PullReport::Error };
            }
            Ok(pulled) => {
                output.record(container, messages::pulled(&container.image, &pulled));
                output.pulled.push(container.image.clone());
                self.create(context, output);
            }
        }
    }

    /// Creates the container, unless an object of its environment is missing.
    fn create(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        if let Some(error) = context.missing_configuration() {
            self.fail_creation(error, context, output);
            return;
        }
        self.phase = Phase::Starting { since: context.now };
        if context.container.behaviour.is_none() {
            let attempt =
                if self.restarting.is_some() { self.restarts.saturating_add(1) } else { self.restarts };
            let container = context.container.name.clone();
            let amounts = self.observed_mut().amounts.allocated.clone().unwrap_or_default();
            self.observed_mut().amounts.actual = Some(amounts.clone());
            output.actions.push(RuntimeAction::StartContainer { container, attempt, amounts });
        }
    }

    fn fail_creation(&mut self, error: CreateError, context: ContainerContext<'_>, output: &mut SyncOutput) {
        for event in messages::create_failed(&error, &context.container.image) {
            output.record(context.container, event);
        }
        self.phase = Phase::CreateFailed { since: context.now, error };
    }

    /// Handles the result of a start.
    fn started(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, now, .. } = context;
        if container.behaviour.is_some() {
            output.record_all(container, [messages::created(), messages::started()]);
            self.begin_run(now);
            return;
        }
        match self.observed_mut().start.take() {
            Some(Ok(started)) => {
                output.record_all(container, [messages::created(), messages::started()]);
                self.observed_mut().begin_run(started.identity);
                self.begin_run(started.since);
                if context.stopping.is_some() {
                    self.stop_restarting();
                }
            }
            Some(Err(failure)) => self.fail_start(failure, context, output),
            None => {}
        }
    }

    fn fail_start(&mut self, failure: StartFailure, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, now, .. } = context;
        let StartFailure { step, message } = failure;
        let (reason, identity, exit) = match step {
            StartStep::Configuration => {
                return self.fail_creation(CreateError::Configuration(message), context, output);
            }
            StartStep::Create => {
                return self.fail_creation(CreateError::Runtime(message), context, output);
            }
            StartStep::Start(identity, exit) => {
                output.record(container, messages::created());
                output.record(container, messages::start_failed(&message));
                ("RunContainerError", identity, exit)
            }
            StartStep::PostStartHook(identity, exit) => {
                output.record_all(container, [messages::created(), messages::started()]);
                output.record_all(container, messages::post_start_failed());
                ("PostStartHookError", identity, exit)
            }
        };
        let exit = exit.unwrap_or_else(|| ContainerExit::unknown(identity.id.clone(), now));
        self.observed_mut().begin_run(identity);
        self.observed_mut().current.start_error = Some((reason, message));
        self.begin_run(exit.started);
        self.observed_mut().exit = Some(exit);
    }

    /// Enters the phase of a running container. A restart is counted.
    fn begin_run(&mut self, since: Timestamp) {
        if let Some(exit) = self.restarting.take() {
            self.last = Some(exit);
            self.restarts = self.restarts.saturating_add(1);
            self.recent_restarts = self.recent_restarts.saturating_add(1);
        }
        self.phase = Phase::Running { since };
        self.stopping = None;
        self.unready_reported = false;
        self.startup_failures_reported = 0;
        self.liveness_failures_reported = 0;
    }

    fn after_exit(&mut self, exit: Exit, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, pod, stopping, now, .. } = context;
        if stopping.is_none() && self.is_restarted_for_resize() {
            self.restart(exit, context, output);
            return;
        }
        if is_final(&exit, container, pod, stopping) {
            self.phase = Phase::Done(exit);
            return;
        }
        let delay = back_off(self.recent_restarts);
        if exit.finished.plus(delay) <= now {
            self.restart(exit, context, output);
        } else {
            output.record(container, messages::restart_back_off(&container.name, pod));
            self.phase = Phase::BackingOff { exit, delay };
        }
    }

    /// Restarts the container. The image of a simulated one is on the node.
    fn restart(&mut self, exit: Exit, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, now, .. } = context;
        self.restarting = Some(exit);
        if container.behaviour.is_none() {
            self.begin(context, output);
            return;
        }
        output.record(container, messages::image_present(&container.image));
        if let Some(error) = context.missing_configuration() {
            self.fail_creation(error, context, output);
            return;
        }
        output.record_all(container, [messages::created(), messages::started()]);
        self.begin_run(now);
    }

    /// Sends the runtime the actions to run the probes of a real container that are due.
    fn run_probes(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, now, .. } = context;
        let (Phase::Running { since }, None) = (&self.phase, &container.behaviour) else { return };
        let (since, is_stopping) = (*since, self.stopping.is_some());
        let observed = self.observed_mut();
        let due: Vec<_> = observed
            .next_probes(container, since, is_stopping)
            .filter(|(_, next)| *next <= now)
            .map(|(probe, _)| probe)
            .collect();
        for probe in due {
            observed.counter_mut(probe).begin(now);
            let id = observed.current.identity.id.clone();
            output.actions.push(RuntimeAction::Probe { container: container.name.clone(), probe, id });
        }
    }

    /// Counts the result of a real probe, and records an event about a failure.
    pub(super) fn probed(
        &mut self,
        kind: ContainerProbe,
        result: &ProbeResult,
        container: &Container,
        output: &mut SyncOutput,
    ) {
        let Some(probe) = container.probe(kind) else { return };
        if !matches!(self.phase, Phase::Running { .. }) {
            self.observed_mut().counter_mut(kind).end();
            return;
        }
        match result {
            ProbeResult::Success => self.observed_mut().counter_mut(kind).record(probe, true),
            ProbeResult::Failure(why) => {
                self.observed_mut().counter_mut(kind).record(probe, false);
                output.record(container, messages::probe_failed(kind, why));
            }
            ProbeResult::Unknown(why) => {
                self.observed_mut().counter_mut(kind).end();
                output.record(container, messages::probe_errored(kind, why));
            }
        }
    }

    /// Records an event for each failure of the startup and liveness probes, and one per start for the readiness probe.
    fn record_failed_probes(&mut self, container: &Container, now: Timestamp, output: &mut SyncOutput) {
        let (Phase::Running { since }, Some(simulated)) = (&self.phase, container.simulated()) else {
            return;
        };
        let since = *since;
        let failures = readiness::startup(simulated, since).failures(now);
        if failures > self.startup_failures_reported {
            self.startup_failures_reported = failures;
            output.record(container, messages::startup_failed());
        }
        let failures = readiness::liveness(simulated, since).map_or(0, |liveness| liveness.failures(now));
        if failures > self.liveness_failures_reported {
            self.liveness_failures_reported = failures;
            output.record(container, messages::liveness_failed());
        }
        if !self.unready_reported && readiness::has_failed_readiness(simulated, since, now) {
            self.unready_reported = true;
            output.record(container, messages::readiness_failed());
        }
    }
}

impl ContainerContext<'_> {
    /// Returns why the environment cannot be built, if an object or key is missing.
    fn missing_configuration(&self) -> Option<CreateError> {
        let problem = self.container.environment.problem(&self.pod.namespace, self.node.references);
        problem.map(CreateError::Configuration)
    }
}

/// Returns the interval at which a kubelet syncs this pod again after a failure.
pub(super) fn sync_interval(pod: &Pod) -> Duration {
    let (least, most) = SYNC_INTERVAL_MILLIS;
    Duration::from_millis(least + Rng::keyed(&pod.uid, "sync").below(most - least))
}
