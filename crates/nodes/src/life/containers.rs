//! The course of one container: pulled, started, running, exited, started again.

use std::time::Duration;

use gantry_model::Timestamp;

use super::exits::{Cause, Exit, back_off, is_over, stop_code, stop_due};
use super::pod::{Container, KILLED, PullPolicy, Role};
use super::readiness;
use super::run::Happened;
use super::{Host, Pod, image, words};
use crate::behaviour::{Dice, Pull};

/// What has become of a container so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) phase: Phase,
    pub(super) restarts: i32,
    /// Restarts since it last ran for long: they make the next one wait.
    pub(super) strikes: u32,
    /// How it ended the time before.
    pub(super) last: Option<Exit>,
    /// Whether its unreadiness was told already.
    pub(super) unready_told: bool,
    /// How many failures of its startup probe were told already.
    pub(super) startup_failures_told: u32,
    /// How many failures of its liveness probe were told already.
    pub(super) liveness_failures_told: u32,
}

/// Where a container is in its course.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not its turn yet.
    #[default]
    Idle,
    /// Its image is on its way.
    Pulling {
        since: Timestamp,
        tries: u32,
        /// What kept it from being created the time before: told until the pull is over.
        held: Option<Problem>,
    },
    /// The image could not be had: told, and then waited out.
    PullFailed {
        since: Timestamp,
        tries: u32,
        told: PullTold,
    },
    /// It could not be created: told, and tried again after a while.
    Held {
        since: Timestamp,
        problem: Problem,
        /// How it ended before, if this is a restart.
        exit: Option<Exit>,
    },
    /// Being created.
    Starting {
        until: Timestamp,
    },
    Running {
        since: Timestamp,
    },
    /// Asked to stop because a probe failed too often.
    Killed {
        since: Timestamp,
        until: Timestamp,
        code: i32,
    },
    /// Exited, and not yet decided on.
    Exited(Exit),
    /// Exited, and to be started again after a while.
    BackingOff {
        exit: Exit,
        delay: Duration,
    },
    /// Exited for good.
    Done(Exit),
}

/// Why a container could not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The name of its image is none.
    ImageName(String),
    /// Its image is not on the node and may not be pulled.
    NeverPulled,
    /// Something that its environment is read from is missing.
    Configuration(String),
}

/// What was told of an image that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PullTold {
    Error,
    BackOff,
}

/// Whoever ran for so long starts with a clean slate.
const FORGIVEN_AFTER: Duration = Duration::from_mins(10);
/// How long a kubelet takes to notice that a container exited or that an image cannot be had.
const NOTICED_AFTER: Duration = Duration::from_secs(1);
/// How often a kubelet tries again to start a container that could not even be created, at least and at most.
const SYNC_MILLIS: (u64, u64) = (10_000, 15_000);

/// One container at the moment of a look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) container: &'a Container,
    pub(super) pod: &'a Pod,
    pub(super) host: &'a Host<'a>,
    /// Since when the pod is asked to stop.
    pub(super) stopping: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl Course {
    /// Begins: gets the image.
    pub(super) fn begin(&mut self, look: Look<'_>, happened: &mut Happened) {
        let Look { container, host, .. } = look;
        if let Some(problem) = image::problem(&container.image) {
            self.hold(Problem::ImageName(problem), None, look, happened);
            return;
        }
        let present = container.behaviour.pull == Pull::Present
            || host.images.contains(&container.image)
            || happened.pulled.contains(&container.image);
        match container.pull_policy {
            PullPolicy::Never if !present => self.hold(Problem::NeverPulled, None, look, happened),
            PullPolicy::Never | PullPolicy::IfNotPresent if present => {
                happened.tell(container, words::present(&container.image));
                self.create(look, happened);
            }
            _ => self.pull(0, look, happened),
        }
    }

    /// Moves on if something is due. Says whether it did.
    pub(super) fn step(&mut self, look: Look<'_>, happened: &mut Happened) -> bool {
        let Look { container, pod, stopping, now, .. } = look;
        self.tell_failed_probes(container, now, happened);
        if self.due(container, pod, stopping).is_none_or(|due| due > now) {
            return false;
        }
        match self.phase.clone() {
            Phase::Idle | Phase::Done(_) => return false,
            Phase::Pulling { since, tries, .. } => self.pulled(since, tries, look, happened),
            Phase::PullFailed { tries, told: PullTold::BackOff, .. } => self.pull(tries, look, happened),
            Phase::PullFailed { since, tries, told: PullTold::Error } => {
                happened.tell_all(container, words::pull_backs_off(&container.image));
                self.phase = Phase::PullFailed { since, tries, told: PullTold::BackOff };
            }
            Phase::Held { exit: None, .. } => self.begin(look, happened),
            Phase::Starting { .. } => self.start(container, now, happened),
            Phase::Running { since } => self.end_run(since, look, happened),
            Phase::Killed { code, .. } => self.exit(code, Cause::Exit, now),
            Phase::Exited(exit) => self.after_exit(exit, look, happened),
            Phase::BackingOff { exit, .. } | Phase::Held { exit: Some(exit), .. } => {
                self.restart(exit, look, happened);
            }
        }
        true
    }

    /// When something will happen to it, or its readiness will change.
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
        matches!(self.phase, Phase::Running { .. } | Phase::Killed { .. })
    }

    /// Whether a look now may create the container, which reads what its environment comes from.
    pub(super) fn may_be_created(&self, container: &Container, pod: &Pod, now: Timestamp) -> bool {
        match self.phase {
            Phase::Idle => true,
            Phase::Running { .. } | Phase::Killed { .. } | Phase::Starting { .. } | Phase::Done(_) => false,
            _ => self.due(container, pod, None).is_some_and(|due| due <= now),
        }
    }

    pub(super) fn is_started(&self, container: &Container, now: Timestamp) -> bool {
        matches!(self.phase, Phase::Running { since } if readiness::is_started(container, since, now))
    }

    pub(super) fn is_ready(&self, container: &Container, now: Timestamp) -> bool {
        match self.phase {
            // An init container is ready when it has done its work.
            Phase::Running { since } if container.role != Role::Init => {
                readiness::is_ready(container, since, now)
            }
            Phase::Done(exit) => container.role == Role::Init && exit.code == 0,
            _ => false,
        }
    }

    /// How it ended last, if it ever did.
    pub(super) fn last_exit(&self) -> Option<Exit> {
        match self.phase {
            Phase::Exited(exit)
            | Phase::BackingOff { exit, .. }
            | Phase::Held { exit: Some(exit), .. }
            | Phase::Done(exit) => Some(exit),
            _ => self.last,
        }
    }

    /// Starts nothing any more; what runs, runs on.
    pub(super) fn give_up(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Running { since } => Phase::Running { since },
            Phase::Killed { since, until, code } => Phase::Killed { since, until, code },
            Phase::Exited(exit)
            | Phase::BackingOff { exit, .. }
            | Phase::Held { exit: Some(exit), .. }
            | Phase::Done(exit) => Phase::Done(exit),
            _ => Phase::Idle,
        };
    }

    pub(super) fn exit(&mut self, code: i32, cause: Cause, now: Timestamp) {
        let (Phase::Running { since: started } | Phase::Killed { since: started, .. }) = self.phase else {
            return;
        };
        if now.since(started) >= FORGIVEN_AFTER {
            self.strikes = 0;
        }
        self.phase = Phase::Exited(Exit { code, cause, started, finished: now });
    }

    /// When the next step is due.
    fn due(&self, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> Option<Timestamp> {
        match &self.phase {
            Phase::Idle | Phase::Done(_) => None,
            Phase::Pulling { since, .. } => Some(since.plus(container.behaviour.pull_takes)),
            Phase::PullFailed { since, told: PullTold::Error, .. } => Some(since.plus(NOTICED_AFTER)),
            Phase::PullFailed { since, tries, .. } => Some(since.plus(back_off(*tries))),
            Phase::Starting { until } => Some(*until),
            Phase::Held { since, .. } => Some(since.plus(sync_pause(pod))),
            Phase::Running { since } => {
                let exits = || {
                    let planned = container.behaviour.exits.map(|exit| since.plus(exit.after));
                    planned.into_iter().chain(readiness::gives_up(container, *since)).min()
                };
                stopping.map_or_else(exits, |asked| Some(stop_due(container, pod, asked)))
            }
            Phase::Killed { until, .. } => {
                Some(stopping.map_or(*until, |asked| stop_due(container, pod, asked).min(*until)))
            }
            Phase::Exited(exit) if is_over(exit, container, pod, stopping) => Some(exit.finished),
            Phase::Exited(exit) => Some(exit.finished.plus(NOTICED_AFTER)),
            Phase::BackingOff { exit, delay } => Some(exit.finished.plus(*delay)),
        }
    }

    /// What ends a container that runs: it was asked to stop, exits by itself, or a probe failed too often.
    fn end_run(&mut self, since: Timestamp, look: Look<'_>, happened: &mut Happened) {
        let Look { container, pod, stopping, now, .. } = look;
        let planned = container.behaviour.exits.filter(|exit| since.plus(exit.after) <= now);
        match (stopping, planned) {
            (Some(asked), _) => self.exit(stop_code(container, pod, asked), Cause::Exit, now),
            (None, Some(exit)) => {
                let cause = if exit.out_of_memory { Cause::OutOfMemory } else { Cause::Exit };
                self.exit(exit.code, cause, now);
            }
            (None, None) => {
                let Some(given_up) = readiness::given_up(container, since, now) else { return };
                happened.tell(container, words::failed_probe(&container.name, given_up.probe));
                let grace = given_up.grace.unwrap_or(pod.grace);
                let takes = container.behaviour.stop_takes;
                let code = if takes <= grace { 0 } else { KILLED };
                self.phase = Phase::Killed { since, until: now.plus(takes.min(grace)), code };
            }
        }
    }

    fn pull(&mut self, tries: u32, look: Look<'_>, happened: &mut Happened) {
        happened.events.extend(words::missing_pull_secrets(look.pod, look.host.references));
        happened.tell(look.container, words::pulling(&look.container.image));
        let held = match std::mem::take(&mut self.phase) {
            Phase::Held { problem, .. } => Some(problem),
            _ => None,
        };
        self.phase = Phase::Pulling { since: look.now, tries, held };
    }

    fn pulled(&mut self, since: Timestamp, tries: u32, look: Look<'_>, happened: &mut Happened) {
        let Look { container, now, .. } = look;
        if container.behaviour.pull == Pull::Fails {
            happened.tell_all(container, words::pull_failed(&container.image));
            self.phase = Phase::PullFailed { since: now, tries: tries + 1, told: PullTold::Error };
            return;
        }
        happened.tell(container, words::pulled(&container.image, now.since(since)));
        happened.pulled.push(container.image.clone());
        self.create(look, happened);
    }

    /// Creates the container, unless something that its environment is read from is missing.
    fn create(&mut self, look: Look<'_>, happened: &mut Happened) {
        match look.missing_configuration() {
            Some(problem) => self.hold(problem, None, look, happened),
            None => {
                self.phase = Phase::Starting { until: look.now.plus(look.container.behaviour.start_takes) };
            }
        }
    }

    fn hold(&mut self, problem: Problem, exit: Option<Exit>, look: Look<'_>, happened: &mut Happened) {
        for event in words::held(&problem, &look.container.image) {
            happened.tell(look.container, event);
        }
        self.phase = Phase::Held { since: look.now, problem, exit };
    }

    fn start(&mut self, container: &Container, now: Timestamp, happened: &mut Happened) {
        happened.tell(container, words::created());
        happened.tell(container, words::started());
        self.phase = Phase::Running { since: now };
        self.unready_told = false;
        self.startup_failures_told = 0;
        self.liveness_failures_told = 0;
    }

    fn after_exit(&mut self, exit: Exit, look: Look<'_>, happened: &mut Happened) {
        let Look { container, pod, stopping, now, .. } = look;
        if is_over(&exit, container, pod, stopping) {
            self.phase = Phase::Done(exit);
            return;
        }
        let delay = back_off(self.strikes);
        if exit.finished.plus(delay) <= now {
            self.restart(exit, look, happened);
        } else {
            happened.tell(container, words::backs_off(&container.name, pod));
            self.phase = Phase::BackingOff { exit, delay };
        }
    }

    /// Starts again; the image is there.
    fn restart(&mut self, exit: Exit, look: Look<'_>, happened: &mut Happened) {
        happened.tell(look.container, words::present(&look.container.image));
        if let Some(problem) = look.missing_configuration() {
            self.hold(problem, Some(exit), look, happened);
            return;
        }
        self.last = Some(exit);
        self.restarts = self.restarts.saturating_add(1);
        self.strikes = self.strikes.saturating_add(1);
        self.start(look.container, look.now, happened);
    }

    /// Tells of every failure of the startup and liveness probes, and once of each start that the readiness probe failed.
    fn tell_failed_probes(&mut self, container: &Container, now: Timestamp, happened: &mut Happened) {
        let Phase::Running { since } = self.phase else { return };
        let failures = readiness::startup(container, since).failures(now);
        if failures > self.startup_failures_told {
            self.startup_failures_told = failures;
            happened.tell(container, words::startup_failed());
        }
        let failures = readiness::liveness(container, since).map_or(0, |liveness| liveness.failures(now));
        if failures > self.liveness_failures_told {
            self.liveness_failures_told = failures;
            happened.tell(container, words::liveness_failed());
        }
        if !self.unready_told && readiness::has_failed_a_probe(container, since, now) {
            self.unready_told = true;
            happened.tell(container, words::unready());
        }
    }
}

impl Look<'_> {
    /// What the container cannot be created for, if something is missing.
    fn missing_configuration(&self) -> Option<Problem> {
        let problem = self.container.environment.problem(&self.pod.namespace, self.host.references);
        problem.map(Problem::Configuration)
    }
}

/// How long a kubelet waits before it looks at this pod again after something could not be done.
pub(super) fn sync_pause(pod: &Pod) -> Duration {
    let (least, most) = SYNC_MILLIS;
    Duration::from_millis(least + Dice::of(&pod.uid, "sync").below(most - least))
}
