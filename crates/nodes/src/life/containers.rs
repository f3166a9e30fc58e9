//! The course of one container: pulled, started, running, exited, started again.

use std::time::Duration;

use gantry_model::Timestamp;

use super::pod::{Container, RestartPolicy, Role};
use super::run::Happened;
use super::{Host, Pod, readiness, words};
use crate::behaviour::Pull;

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
    },
    /// The image could not be had: told, and then waited out.
    PullFailed {
        since: Timestamp,
        tries: u32,
        told: PullTold,
    },
    /// Being created.
    Starting {
        until: Timestamp,
    },
    Running {
        since: Timestamp,
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

/// What was told of an image that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PullTold {
    Error,
    BackOff,
}

/// How a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) code: i32,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

/// The wait before a restart: this, doubled each time ...
const BACK_OFF: Duration = Duration::from_secs(10);
/// ... up to this.
const BACK_OFF_MAX: Duration = Duration::from_mins(5);
/// Whoever ran for so long starts with a clean slate.
const FORGIVEN_AFTER: Duration = Duration::from_mins(10);
/// How long a kubelet takes to notice that a container exited or that an image cannot be had.
const NOTICED_AFTER: Duration = Duration::from_secs(1);
/// The exit code of a container that was killed.
const KILLED: i32 = 137;

impl Course {
    /// Begins: gets the image.
    pub(super) fn begin(
        &mut self,
        container: &Container,
        host: &Host<'_>,
        now: Timestamp,
        happened: &mut Happened,
    ) {
        let present = host.images.contains(&container.image) || happened.pulled.contains(&container.image);
        if present && !container.pull_always {
            happened.tell(container, words::present(&container.image));
            self.phase = Phase::Starting { until: now.plus(container.behaviour.start_takes) };
        } else {
            self.pull(container, 0, now, happened);
        }
    }

    /// Moves on if something is due. Says whether it did.
    pub(super) fn step(
        &mut self,
        container: &Container,
        pod: &Pod,
        stopping: Option<Timestamp>,
        now: Timestamp,
        happened: &mut Happened,
    ) -> bool {
        self.tell_unready(container, now, happened);
        if self.due(container, pod, stopping).is_none_or(|due| due > now) {
            return false;
        }
        match self.phase.clone() {
            Phase::Idle | Phase::Done(_) => return false,
            Phase::Pulling { since, tries } => self.pulled(container, since, tries, now, happened),
            Phase::PullFailed { tries, told: PullTold::BackOff, .. } => {
                self.pull(container, tries, now, happened);
            }
            Phase::PullFailed { since, tries, told: PullTold::Error } => {
                happened.tell_all(container, words::pull_backs_off(&container.image));
                self.phase = Phase::PullFailed { since, tries, told: PullTold::BackOff };
            }
            Phase::Starting { .. } => self.start(container, now, happened),
            Phase::Running { since } => {
                let exit_code = match stopping {
                    Some(asked) if stops_in_time(container, pod, asked) => 0,
                    Some(_) => KILLED,
                    None => container.behaviour.exits.map_or(0, |(_, code)| code),
                };
                debug_assert!(since <= now, "a container exits after it was started");
                self.exit(exit_code, now);
            }
            Phase::Exited(exit) => self.after_exit(exit, container, pod, stopping, now, happened),
            Phase::BackingOff { exit, .. } => self.restart(exit, container, now, happened),
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
        matches!(self.phase, Phase::Running { .. })
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
            Phase::Exited(exit) | Phase::BackingOff { exit, .. } | Phase::Done(exit) => Some(exit),
            _ => self.last,
        }
    }

    /// Starts nothing any more; what runs, runs on.
    pub(super) fn give_up(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Running { since } => Phase::Running { since },
            Phase::Exited(exit) | Phase::BackingOff { exit, .. } | Phase::Done(exit) => Phase::Done(exit),
            _ => Phase::Idle,
        };
    }

    pub(super) fn exit(&mut self, code: i32, now: Timestamp) {
        let Phase::Running { since: started } = self.phase else { return };
        if now.since(started) >= FORGIVEN_AFTER {
            self.strikes = 0;
        }
        self.phase = Phase::Exited(Exit { code, started, finished: now });
    }

    /// When the next step is due.
    fn due(&self, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> Option<Timestamp> {
        match &self.phase {
            Phase::Idle | Phase::Done(_) => None,
            Phase::Pulling { since, .. } => Some(since.plus(container.behaviour.pull_takes)),
            Phase::PullFailed { since, told: PullTold::Error, .. } => Some(since.plus(NOTICED_AFTER)),
            Phase::PullFailed { since, tries, .. } => Some(since.plus(back_off(*tries))),
            Phase::Starting { until } => Some(*until),
            Phase::Running { since } => match stopping {
                Some(asked) => Some(stop_due(container, pod, asked)),
                None => container.behaviour.exits.map(|(after, _)| since.plus(after)),
            },
            Phase::Exited(exit) if is_over(exit, container, pod, stopping) => Some(exit.finished),
            Phase::Exited(exit) => Some(exit.finished.plus(NOTICED_AFTER)),
            Phase::BackingOff { exit, delay } => Some(exit.finished.plus(*delay)),
        }
    }

    fn pull(&mut self, container: &Container, tries: u32, now: Timestamp, happened: &mut Happened) {
        happened.tell(container, words::pulling(&container.image));
        self.phase = Phase::Pulling { since: now, tries };
    }

    fn pulled(
        &mut self,
        container: &Container,
        since: Timestamp,
        tries: u32,
        now: Timestamp,
        happened: &mut Happened,
    ) {
        if container.behaviour.pull == Pull::Fails {
            happened.tell_all(container, words::pull_failed(&container.image));
            self.phase = Phase::PullFailed { since: now, tries: tries + 1, told: PullTold::Error };
            return;
        }
        happened.tell(container, words::pulled(&container.image, now.since(since)));
        happened.pulled.push(container.image.clone());
        self.phase = Phase::Starting { until: now.plus(container.behaviour.start_takes) };
    }

    fn start(&mut self, container: &Container, now: Timestamp, happened: &mut Happened) {
        happened.tell(container, words::created());
        happened.tell(container, words::started());
        self.phase = Phase::Running { since: now };
        self.unready_told = false;
    }

    fn after_exit(
        &mut self,
        exit: Exit,
        container: &Container,
        pod: &Pod,
        stopping: Option<Timestamp>,
        now: Timestamp,
        happened: &mut Happened,
    ) {
        if is_over(&exit, container, pod, stopping) {
            self.phase = Phase::Done(exit);
            return;
        }
        let delay = back_off(self.strikes);
        if exit.finished.plus(delay) <= now {
            self.restart(exit, container, now, happened);
        } else {
            happened.tell(container, words::backs_off(&container.name, pod));
            self.phase = Phase::BackingOff { exit, delay };
        }
    }

    /// Starts again; the image is there.
    fn restart(&mut self, exit: Exit, container: &Container, now: Timestamp, happened: &mut Happened) {
        self.last = Some(exit);
        self.restarts = self.restarts.saturating_add(1);
        self.strikes = self.strikes.saturating_add(1);
        happened.tell(container, words::present(&container.image));
        self.start(container, now, happened);
    }

    /// Tells once of each start that a probe found the container not ready.
    fn tell_unready(&mut self, container: &Container, now: Timestamp, happened: &mut Happened) {
        let Phase::Running { since } = self.phase else { return };
        if !self.unready_told && readiness::has_failed_a_probe(container, since, now) {
            self.unready_told = true;
            happened.tell(container, words::unready());
        }
    }
}

/// Whether a container that exited is not started again.
fn is_over(exit: &Exit, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> bool {
    let again = match (container.role, pod.restart) {
        (Role::Sidecar, _) | (Role::Main, RestartPolicy::Always) => true,
        (Role::Init | Role::Main, RestartPolicy::OnFailure) | (Role::Init, RestartPolicy::Always) => {
            exit.code != 0
        }
        (_, RestartPolicy::Never) => false,
    };
    stopping.is_some() || !again
}

/// The wait after so many attempts: none after the first, then doubling.
fn back_off(attempts: u32) -> Duration {
    match attempts.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => BACK_OFF.saturating_mul(1 << doublings.min(10)).min(BACK_OFF_MAX),
    }
}

/// When a container that was asked to stop has stopped, by itself or not.
fn stop_due(container: &Container, pod: &Pod, asked: Timestamp) -> Timestamp {
    let by_itself = asked.plus(container.behaviour.stop_takes);
    pod.deletion.map_or(by_itself, |deletion| by_itself.min(deletion.deadline))
}

fn stops_in_time(container: &Container, pod: &Pod, asked: Timestamp) -> bool {
    stop_due(container, pod, asked) == asked.plus(container.behaviour.stop_takes)
}
