//! Applies the reports of a container runtime to the state of a pod.

use gantry_model::Timestamp;

use super::actions::{RuntimeReport, SandboxFailure};
use super::container_run::{ContainerRun, Phase, sync_interval};
use super::dependencies::MountProblems;
use super::pod::Role;
use super::pod_run::{PodEnd, PodRun, Sandbox, SyncOutput, mount_back_off};
use super::{ContainerExit, Pod, messages};

impl PodRun {
    /// Applies a report. Returns whether it changed anything; an exit that is reported before the start, for example,
    /// does not yet.
    pub fn receive(&mut self, pod: &Pod, report: RuntimeReport, now: Timestamp) -> bool {
        self.containers.resize_with(pod.containers.len(), ContainerRun::default);
        let is_change = self.take_in(pod, report, now);
        self.has_new_reports |= is_change;
        is_change
    }

    fn take_in(&mut self, pod: &Pod, report: RuntimeReport, now: Timestamp) -> bool {
        match report {
            RuntimeReport::Sandbox(result) => self.receive_sandbox(pod, result, now),
            RuntimeReport::SandboxLost => self.lose_sandbox(pod, now),
            RuntimeReport::Evicted(eviction) => {
                let is_change = self.stopping.is_none() && self.ended_by.is_none();
                if is_change {
                    self.reported_events.push(messages::evicted(&eviction.message));
                    self.ended_by = Some(PodEnd::Evicted(eviction));
                }
                is_change
            }
            RuntimeReport::Rejected(rejection) => {
                self.reported_events.push(messages::rejected(&rejection));
                self.ended_by = Some(PodEnd::Rejected(rejection));
                true
            }
            RuntimeReport::SandboxStopped => {
                self.sandbox = Sandbox::Stopped;
                true
            }
            RuntimeReport::Image { container, present } => self.with_container(pod, &container, |run| {
                let is_awaited = matches!(run.phase, Phase::Inspecting);
                run.observed_mut().image_present = Some(present).filter(|_| is_awaited);
                is_awaited
            }),
            RuntimeReport::Pulled { container, result } => self.with_container(pod, &container, |run| {
                let is_awaited = matches!(run.phase, Phase::Pulling { .. });
                run.observed_mut().pull = Some(result).filter(|_| is_awaited);
                is_awaited
            }),
            RuntimeReport::Started { container, result } => self.with_container(pod, &container, |run| {
                let is_awaited = matches!(run.phase, Phase::Starting { .. });
                run.observed_mut().start = Some(result).filter(|_| is_awaited);
                is_awaited
            }),
            RuntimeReport::Exited { container, exit } => {
                self.with_container(pod, &container, |run| receive_exit(run, exit))
            }
            RuntimeReport::Resized { container, id, result } => {
                self.with_container(pod, &container, |run| run.resized(&id, result, pod, now))
            }
            RuntimeReport::Probed { container, id, probe, result } => {
                let Some(at) = pod.containers.iter().position(|known| known.name == container) else {
                    return false;
                };
                let run = &mut self.containers[at];
                if run.observed_mut().current.identity.id != id {
                    return false;
                }
                let mut output = SyncOutput::default();
                run.probed(probe, &result, &pod.containers[at], &mut output);
                self.reported_events.append(&mut output.events);
                true
            }
        }
    }

    /// Whether something was reported since the last sync, so that another one is needed.
    pub fn has_new_reports(&self) -> bool {
        self.has_new_reports
    }

    /// Returns the number of sandboxes that the pod has had.
    pub fn sandboxes(&self) -> u32 {
        self.sandboxes
    }

    fn with_container(
        &mut self,
        pod: &Pod,
        name: &str,
        receive: impl FnOnce(&mut ContainerRun) -> bool,
    ) -> bool {
        let at = pod.containers.iter().position(|container| container.name == name);
        at.and_then(|at| self.containers.get_mut(at)).is_some_and(receive)
    }

    fn receive_sandbox(&mut self, pod: &Pod, result: Result<(), SandboxFailure>, now: Timestamp) -> bool {
        let Sandbox::Creating { failures } = self.sandbox else { return false };
        let delay = match result {
            Ok(()) => {
                self.sandboxes = self.sandboxes.saturating_add(1);
                self.sandbox = Sandbox::Ready;
                return true;
            }
            Err(SandboxFailure::Mounts(contents)) => {
                let problems = MountProblems { contents, ..MountProblems::default() };
                self.reported_events.extend(messages::mounts_failed(&problems));
                mount_back_off(failures)
            }
            Err(SandboxFailure::Runtime(why)) => {
                self.reported_events.push(messages::sandbox_failed(&why));
                self.sandboxes = self.sandboxes.saturating_add(1);
                sync_interval(pod)
            }
        };
        self.sandbox = Sandbox::Pending { until: now.plus(delay), failures: failures.saturating_add(1) };
        true
    }

    /// Starts over without a sandbox: its containers have ended, and init containers run again.
    pub(super) fn lose_sandbox(&mut self, pod: &Pod, now: Timestamp) -> bool {
        if self.sandbox != Sandbox::Ready {
            return false;
        }
        let is_stopping = self.stopping.is_some();
        self.sandbox =
            if is_stopping { Sandbox::Stopped } else { Sandbox::Pending { until: now, failures: 0 } };
        if !is_stopping {
            self.reported_events.push(messages::sandbox_changed());
        }
        for (container, run) in pod.containers.iter().zip(&mut self.containers) {
            if run.is_running() {
                let id = run.observed_mut().current.identity.id.clone();
                run.observed_mut().exit.get_or_insert_with(|| ContainerExit::unknown(id, now));
                run.exit(0, super::exits::ExitCause::Exit, now);
            }
            if is_stopping {
                run.stop_restarting();
                continue;
            }
            run.phase = match std::mem::take(&mut run.phase) {
                Phase::Done(exit) if container.role == Role::Init => {
                    run.restarting = Some(exit);
                    Phase::Pending
                }
                Phase::Done(exit) => Phase::Done(exit),
                Phase::Exited(exit) if super::exits::is_final(&exit, container, pod, None) => {
                    Phase::Exited(exit)
                }
                Phase::Exited(exit) | Phase::BackingOff { exit, .. } => {
                    run.restarting = Some(exit);
                    Phase::Pending
                }
                _ => Phase::Pending,
            };
        }
        true
    }
}

fn receive_exit(run: &mut ContainerRun, exit: ContainerExit) -> bool {
    let is_running = run.is_running();
    let observed = run.observed_mut();
    let is_change = is_running && observed.current.identity.id == exit.id && observed.exit.is_none();
    if is_change {
        observed.exit = Some(exit);
    }
    is_change
}
