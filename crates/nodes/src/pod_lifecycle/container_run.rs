//! The runtime state of one container: pulled, started, running, exited, restarted.

use std::time::Duration;

use gantry_model::Timestamp;
use gantry_rng::Rng;

use super::exits::{Exit, ExitCause, back_off, is_final, stop_code, stop_due};
use super::pod::{Container, KILLED, PullPolicy, Role};
use super::pod_run::SyncOutput;
use super::{NodeContext, Pod, image_name, messages, readiness};
use crate::behaviour::Pull;

/// The runtime state of one container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ContainerRun {
    pub(super) phase: Phase,
    pub(super) restarts: i32,
    /// Restarts since it last ran long enough to reset the backoff.
    pub(super) recent_restarts: u32,
    /// How its previous run ended.
    pub(super) last: Option<Exit>,
    /// Whether an event about its failed readiness probe was recorded.
    pub(super) unready_reported: bool,
    /// The number of recorded failures of its startup probe.
    pub(super) startup_failures_reported: u32,
    /// The number of recorded failures of its liveness probe.
    pub(super) liveness_failures_reported: u32,
}

/// The phase of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not started: containers before it are not done.
    #[default]
    Pending,
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
        /// How its previous run ended, if this is a restart.
        exit: Option<Exit>,
    },
    /// It is being created.
    Starting {
        until: Timestamp,
    },
    Running {
        since: Timestamp,
    },
    /// It was told to stop because a probe failed too often.
    Stopping {
        since: Timestamp,
        until: Timestamp,
        code: i32,
    },
    /// It exited, which the kubelet has not handled yet.
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
}

/// What was reported about an image that could not be pulled.
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
        let ContainerContext { container, node, .. } = context;
        if let Some(problem) = image_name::parse_error(&container.image) {
            self.fail_creation(CreateError::ImageName(problem), None, context, output);
            return;
        }
        let present = container.behaviour.pull == Pull::Present
            || node.images.contains(&container.image)
            || output.pulled.contains(&container.image);
        match container.pull_policy {
            PullPolicy::Never if !present => {
                self.fail_creation(CreateError::NeverPulled, None, context, output);
            }
            PullPolicy::Never | PullPolicy::IfNotPresent if present => {
                output.record(container, messages::image_present(&container.image));
                self.create(context, output);
            }
            _ => self.pull(0, context, output),
        }
    }

    /// Carries out one step if one is due. Returns whether it did.
    pub(super) fn step(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) -> bool {
        let ContainerContext { container, pod, stopping, now, .. } = context;
        self.record_failed_probes(container, now, output);
        if self.due(container, pod, stopping).is_none_or(|due| due > now) {
            return false;
        }
        match self.phase.clone() {
            Phase::Pending | Phase::Done(_) => return false,
            Phase::Pulling { since, tries, .. } => self.pulled(since, tries, context, output),
            Phase::PullFailed { tries, reported: PullReport::BackOff, .. } => {
                self.pull(tries, context, output);
            }
            Phase::PullFailed { since, tries, reported: PullReport::Error } => {
                output.record_all(container, messages::pull_back_off_events(&container.image));
                self.phase = Phase::PullFailed { since, tries, reported: PullReport::BackOff };
            }
            Phase::CreateFailed { exit: None, .. } => self.begin(context, output),
            Phase::Starting { .. } => self.start(container, now, output),
            Phase::Running { since } => self.end_run(since, context, output),
            Phase::Stopping { code, .. } => self.exit(code, ExitCause::Exit, now),
            Phase::Exited(exit) => self.after_exit(exit, context, output),
            Phase::BackingOff { exit, .. } | Phase::CreateFailed { exit: Some(exit), .. } => {
                self.restart(exit, context, output);
            }
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
        let readiness = match self.phase {
            Phase::Running { since } => readiness::next_change(container, since, now),
            _ => None,
        };
        self.due(container, pod, stopping).into_iter().chain(readiness).min()
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running { .. } | Phase::Stopping { .. })
    }

    /// Whether a sync now may create the container, which reads the objects of its environment.
    pub(super) fn may_be_created(&self, container: &Container, pod: &Pod, now: Timestamp) -> bool {
        match self.phase {
            Phase::Pending => true,
            Phase::Running { .. } | Phase::Stopping { .. } | Phase::Starting { .. } | Phase::Done(_) => false,
            _ => self.due(container, pod, None).is_some_and(|due| due <= now),
        }
    }

    pub(super) fn is_started(&self, container: &Container, now: Timestamp) -> bool {
        matches!(self.phase, Phase::Running { since } if readiness::is_started(container, since, now))
    }

    pub(super) fn is_ready(&self, container: &Container, now: Timestamp) -> bool {
        match self.phase {
            // An init container is ready when it has completed.
            Phase::Running { since } if container.role != Role::Init => {
                readiness::is_ready(container, since, now)
            }
            Phase::Done(exit) => container.role == Role::Init && exit.code == 0,
            _ => false,
        }
    }

    /// Returns its latest exit.
    pub(super) fn last_exit(&self) -> Option<Exit> {
        match self.phase {
            Phase::Exited(exit)
            | Phase::BackingOff { exit, .. }
            | Phase::CreateFailed { exit: Some(exit), .. }
            | Phase::Done(exit) => Some(exit),
            _ => self.last,
        }
    }

    /// Prevents further starts; a running container keeps running.
    pub(super) fn stop_restarting(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Running { since } => Phase::Running { since },
            Phase::Stopping { since, until, code } => Phase::Stopping { since, until, code },
            Phase::Exited(exit)
            | Phase::BackingOff { exit, .. }
            | Phase::CreateFailed { exit: Some(exit), .. }
            | Phase::Done(exit) => Phase::Done(exit),
            _ => Phase::Pending,
        };
    }

    pub(super) fn exit(&mut self, code: i32, cause: ExitCause, now: Timestamp) {
        let (Phase::Running { since: started } | Phase::Stopping { since: started, .. }) = self.phase else {
            return;
        };
        if now.since(started) >= BACK_OFF_RESET_AFTER {
            self.recent_restarts = 0;
        }
        self.phase = Phase::Exited(Exit { code, cause, started, finished: now });
    }

    /// Returns when the next step is due.
    fn due(&self, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> Option<Timestamp> {
        match &self.phase {
            Phase::Pending | Phase::Done(_) => None,
            Phase::Pulling { since, .. } => Some(since.plus(container.behaviour.pull_takes)),
            Phase::PullFailed { since, reported: PullReport::Error, .. } => Some(since.plus(DETECTION_DELAY)),
            Phase::PullFailed { since, tries, .. } => Some(since.plus(back_off(*tries))),
            Phase::Starting { until } => Some(*until),
            Phase::CreateFailed { since, .. } => Some(since.plus(sync_interval(pod))),
            Phase::Running { since } => {
                let exits = || {
                    let planned = container.behaviour.exits.map(|exit| since.plus(exit.after));
                    planned.into_iter().chain(readiness::exceeded_at(container, *since)).min()
                };
                stopping.map_or_else(exits, |since| Some(stop_due(container, pod, since)))
            }
            Phase::Stopping { until, .. } => {
                Some(stopping.map_or(*until, |since| stop_due(container, pod, since).min(*until)))
            }
            Phase::Exited(exit) if is_final(exit, container, pod, stopping) => Some(exit.finished),
            Phase::Exited(exit) => Some(exit.finished.plus(DETECTION_DELAY)),
            Phase::BackingOff { exit, delay } => Some(exit.finished.plus(*delay)),
        }
    }

    /// Ends a running container: it was stopped, exits by itself, or a probe failed too often.
    fn end_run(&mut self, since: Timestamp, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, pod, stopping, now, .. } = context;
        let planned = container.behaviour.exits.filter(|exit| since.plus(exit.after) <= now);
        match (stopping, planned) {
            (Some(since), _) => self.exit(stop_code(container, pod, since), ExitCause::Exit, now),
            (None, Some(exit)) => {
                let cause = if exit.out_of_memory { ExitCause::OutOfMemory } else { ExitCause::Exit };
                self.exit(exit.code, cause, now);
            }
            (None, None) => {
                let Some(exceeded) = readiness::exceeded_probe(container, since, now) else { return };
                output.record(container, messages::failed_probe(&container.name, exceeded.probe));
                let grace = exceeded.grace.unwrap_or(pod.grace);
                let takes = container.behaviour.stop_takes;
                let code = if takes <= grace { 0 } else { KILLED };
                self.phase = Phase::Stopping { since, until: now.plus(takes.min(grace)), code };
            }
        }
    }

    fn pull(&mut self, tries: u32, context: ContainerContext<'_>, output: &mut SyncOutput) {
        output.events.extend(messages::missing_pull_secrets(context.pod, context.node.references));
        output.record(context.container, messages::pulling(&context.container.image));
        let create_error = match std::mem::take(&mut self.phase) {
            Phase::CreateFailed { error, .. } => Some(error),
            _ => None,
        };
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
        if container.behaviour.pull == Pull::Fails {
            output.record_all(container, messages::pull_failed(&container.image));
            self.phase = Phase::PullFailed { since: now, tries: tries + 1, reported: PullReport::Error };
            return;
        }
        output.record(container, messages::pulled(&container.image, now.since(since)));
        output.pulled.push(container.image.clone());
        self.create(context, output);
    }

    /// Creates the container, unless an object of its environment is missing.
    fn create(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        match context.missing_configuration() {
            Some(error) => self.fail_creation(error, None, context, output),
            None => {
                self.phase =
                    Phase::Starting { until: context.now.plus(context.container.behaviour.start_takes) };
            }
        }
    }

    fn fail_creation(
        &mut self,
        error: CreateError,
        exit: Option<Exit>,
        context: ContainerContext<'_>,
        output: &mut SyncOutput,
    ) {
        for event in messages::create_failed(&error, &context.container.image) {
            output.record(context.container, event);
        }
        self.phase = Phase::CreateFailed { since: context.now, error, exit };
    }

    fn start(&mut self, container: &Container, now: Timestamp, output: &mut SyncOutput) {
        output.record(container, messages::created());
        output.record(container, messages::started());
        self.phase = Phase::Running { since: now };
        self.unready_reported = false;
        self.startup_failures_reported = 0;
        self.liveness_failures_reported = 0;
    }

    fn after_exit(&mut self, exit: Exit, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, pod, stopping, now, .. } = context;
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

    /// Restarts the container; its image is on the node.
    fn restart(&mut self, exit: Exit, context: ContainerContext<'_>, output: &mut SyncOutput) {
        output.record(context.container, messages::image_present(&context.container.image));
        if let Some(error) = context.missing_configuration() {
            self.fail_creation(error, Some(exit), context, output);
            return;
        }
        self.last = Some(exit);
        self.restarts = self.restarts.saturating_add(1);
        self.recent_restarts = self.recent_restarts.saturating_add(1);
        self.start(context.container, context.now, output);
    }

    /// Records an event for each failure of the startup and liveness probes, and one per start for the readiness probe.
    fn record_failed_probes(&mut self, container: &Container, now: Timestamp, output: &mut SyncOutput) {
        let Phase::Running { since } = self.phase else { return };
        let failures = readiness::startup(container, since).failures(now);
        if failures > self.startup_failures_reported {
            self.startup_failures_reported = failures;
            output.record(container, messages::startup_failed());
        }
        let failures = readiness::liveness(container, since).map_or(0, |liveness| liveness.failures(now));
        if failures > self.liveness_failures_reported {
            self.liveness_failures_reported = failures;
            output.record(container, messages::liveness_failed());
        }
        if !self.unready_reported && readiness::has_failed_readiness(container, since, now) {
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
