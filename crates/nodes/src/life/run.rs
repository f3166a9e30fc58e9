//! What goes on in a pod: what a kubelet would know from its container runtime.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{Event, Timestamp};

use super::containers::{Course, Look, Phase, sync_pause};
use super::dependencies::{self, Reference, ReferenceKind};
use super::exits::Cause;
use super::pod::{Container, Role};
use super::{End, Host, Pod, Told, words};
use crate::behaviour::Dice;

/// What goes on in a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// When the node first saw the pod.
    pub(super) began: Timestamp,
    pub(super) sandbox: Sandbox,
    /// One for each container of the pod, in the same order.
    pub(super) courses: Vec<Course>,
    pub(super) stopping: Option<Timestamp>,
    /// Whether the pod is stopped because it was active for too long.
    pub(super) deadline_exceeded: bool,
    /// Since when each condition is what it is.
    pub(super) conditions: BTreeMap<String, (String, Timestamp)>,
}

/// The pod's own network and what else its containers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sandbox {
    /// It is made then, if the volumes can be mounted, which failed so often before.
    Coming {
        until: Timestamp,
        failures: u32,
    },
    Up,
}

/// What happened during one look.
#[derive(Debug, Default)]
pub(super) struct Happened {
    pub(super) events: Vec<Told>,
    pub(super) pulled: Vec<String>,
}

/// How long it takes to prepare a pod for its containers, in milliseconds at least and at most.
const SANDBOX_MILLIS: (u64, u64) = (100, 200);
/// The wait after volumes could not be mounted: this, doubled each time ...
const MOUNT_BACK_OFF: Duration = Duration::from_millis(500);
/// ... up to this; a kubelet's numbers.
const MOUNT_BACK_OFF_MAX: Duration = Duration::from_secs(122);

impl Run {
    /// The run of a pod that its node has just seen for the first time.
    pub fn begin(pod: &Pod, now: Timestamp) -> Self {
        let (least, most) = SANDBOX_MILLIS;
        let takes = Duration::from_millis(least + Dice::of(&pod.uid, "sandbox").below(most - least));
        Self {
            began: now,
            sandbox: Sandbox::Coming { until: now.plus(takes), failures: 0 },
            courses: pod.containers.iter().map(|_| Course::default()).collect(),
            stopping: None,
            deadline_exceeded: false,
            conditions: BTreeMap::new(),
        }
    }

    /// Does everything that is due.
    pub(super) fn proceed(&mut self, pod: &Pod, host: &Host<'_>, now: Timestamp, happened: &mut Happened) {
        self.mount(pod, host, now, happened);
        if self.stopping.is_none() {
            if self.deadline(pod).is_some_and(|deadline| deadline <= now) {
                self.deadline_exceeded = true;
                happened.events.push(words::deadline_exceeded());
                self.stop(pod, now, happened);
            } else if pod.deletion.is_some() {
                self.stop(pod, now, happened);
            }
        }
        // Each step moves a container on; a container that ends can give the next one its turn.
        while (0..self.courses.len()).any(|at| self.step(at, pod, host, now, happened)) {}
    }

    /// What a look now would read of other objects.
    pub(super) fn needed(&self, pod: &Pod, now: Timestamp) -> Vec<Reference> {
        if pod.deletion.is_some() || self.stopping.is_some() {
            return Vec::new();
        }
        let volumes = match self.sandbox {
            Sandbox::Coming { until, .. } if until > now => return Vec::new(),
            Sandbox::Coming { .. } => pod.volumes.as_slice(),
            Sandbox::Up => &[],
        };
        let created: Vec<_> = pod
            .containers
            .iter()
            .zip(&self.courses)
            .filter(|(container, course)| course.may_be_created(container, pod, now))
            .collect();
        let secrets = if created.is_empty() { &[] } else { pod.pull_secrets.as_slice() };
        let secrets =
            secrets.iter().map(|name| Reference { kind: ReferenceKind::Secret, name: name.clone() });
        let environments =
            created.iter().flat_map(|(container, _)| container.environment.references().cloned());
        volumes.iter().flat_map(dependencies::Volume::references).chain(environments).chain(secrets).collect()
    }

    /// Mounts the volumes and prepares the pod for its containers, if it is time.
    fn mount(&mut self, pod: &Pod, host: &Host<'_>, now: Timestamp, happened: &mut Happened) {
        let Sandbox::Coming { until, failures } = self.sandbox else { return };
        if until > now || pod.deletion.is_some() {
            return;
        }
        let problems = dependencies::mount_problems(&pod.volumes, &pod.namespace, host.references);
        let events = words::mounts_failed(&problems);
        if events.is_empty() {
            self.sandbox = Sandbox::Up;
            return;
        }
        happened.events.extend(events);
        // Claims are looked at with the whole pod, everything else is tried on its own.
        let pause = if problems.contents.is_empty() {
            sync_pause(pod)
        } else {
            MOUNT_BACK_OFF.saturating_mul(1 << failures.min(10)).min(MOUNT_BACK_OFF_MAX)
        };
        self.sandbox = Sandbox::Coming { until: now.plus(pause), failures: failures.saturating_add(1) };
    }

    /// When the pod will have been active for too long, unless it ends or is stopped before.
    fn deadline(&self, pod: &Pod) -> Option<Timestamp> {
        let is_active = self.stopping.is_none() && pod.deletion.is_none() && self.outcome(pod).is_none();
        pod.active_deadline.filter(|_| is_active).map(|deadline| self.began.plus(deadline))
    }

    /// When something will be due.
    pub(super) fn wake(&self, pod: &Pod, now: Timestamp) -> Option<Timestamp> {
        let sandbox = match self.sandbox {
            Sandbox::Coming { until, .. } => Some(until),
            Sandbox::Up => None,
        };
        let courses = pod.containers.iter().zip(&self.courses);
        courses
            .filter_map(|(container, course)| course.wake(container, pod, self.stopping, now))
            .chain(sandbox)
            .chain(self.deadline(pod))
            .min()
    }

    /// Whether everything has ended, and what then.
    pub(super) fn end(&self, pod: &Pod) -> End {
        let stopped = self.stopping.is_some() && self.courses.iter().all(|course| !course.is_running());
        match pod.deletion {
            // Without grace the server removes the object by itself, once nobody holds it any more.
            Some(deletion) if stopped && deletion.grace.is_zero() => End::Over,
            Some(_) if stopped => End::Remove,
            None if self.outcome(pod).is_some() => End::Over,
            _ => End::NotYet,
        }
    }

    /// How the pod ended, if it did: by itself, or stopped after it had begun.
    pub(super) fn outcome(&self, pod: &Pod) -> Option<Outcome> {
        let ended = self.stopping.is_some() && self.courses.iter().all(|course| !course.is_running());
        if self.deadline_exceeded {
            return ended.then_some(Outcome::Failed);
        }
        let stopped = ended && self.courses.iter().any(|course| course.last_exit().is_some());
        let mains = || self.of_role(pod, Role::Main);
        let failed_init = self
            .of_role(pod, Role::Init)
            .any(|course| matches!(&course.phase, Phase::Done(exit) if exit.code != 0));
        let all_done = mains().all(|course| matches!(course.phase, Phase::Done(_)));
        let sidecars_stopped = self.of_role(pod, Role::Sidecar).all(|course| !course.is_running());
        if !(stopped || (failed_init && self.stopping.is_none()) || (all_done && sidecars_stopped)) {
            return None;
        }
        let well =
            !failed_init && mains().all(|course| course.last_exit().is_some_and(|exit| exit.code == 0));
        Some(if well { Outcome::Succeeded } else { Outcome::Failed })
    }

    pub(super) fn of_role<'a>(&'a self, pod: &'a Pod, role: Role) -> impl Iterator<Item = &'a Course> {
        let pairs = pod.containers.iter().zip(&self.courses);
        pairs.filter(move |(container, _)| container.role == role).map(|(_, course)| course)
    }

    /// Asks everything to stop.
    fn stop(&mut self, pod: &Pod, now: Timestamp, happened: &mut Happened) {
        self.stopping = Some(now);
        for (container, course) in pod.containers.iter().zip(&mut self.courses) {
            if course.is_running() {
                happened.tell(container, words::killing(&container.name));
            }
            course.give_up();
        }
    }

    /// Moves one container on, if something is due for it. Says whether it did.
    fn step(
        &mut self,
        at: usize,
        pod: &Pod,
        host: &Host<'_>,
        now: Timestamp,
        happened: &mut Happened,
    ) -> bool {
        let container = &pod.containers[at];
        let its_turn =
            self.sandbox == Sandbox::Up && self.stopping.is_none() && self.is_turn_of(at, pod, now);
        let no_longer_needed = container.role == Role::Sidecar
            && self.of_role(pod, Role::Main).all(|course| matches!(course.phase, Phase::Done(_)));
        let look = Look { container, pod, host, stopping: self.stopping, now };
        let Some(course) = self.courses.get_mut(at) else { return false };
        if no_longer_needed && course.is_running() {
            course.exit(0, Cause::Exit, now);
            course.give_up();
            return true;
        }
        if matches!(course.phase, Phase::Idle) {
            if its_turn {
                course.begin(look, happened);
            }
            return its_turn;
        }
        course.step(look, happened)
    }

    /// Whether everything that must come before a container has.
    fn is_turn_of(&self, at: usize, pod: &Pod, now: Timestamp) -> bool {
        let before = pod.containers.iter().zip(&self.courses).take(at);
        before.filter(|(container, _)| container.role != Role::Main).all(
            |(container, course)| match container.role {
                Role::Sidecar => course.is_started(container, now),
                _ => matches!(&course.phase, Phase::Done(exit) if exit.code == 0),
            },
        )
    }
}

/// How a pod ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    Failed,
}

impl Happened {
    pub(super) fn tell(&mut self, container: &Container, event: Event) {
        self.events.push(words::about(container, event));
    }

    pub(super) fn tell_all(&mut self, container: &Container, events: [Event; 2]) {
        self.events.extend(events.map(|event| words::about(container, event)));
    }
}
