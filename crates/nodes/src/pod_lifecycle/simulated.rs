//! The reports of a simulated runtime about a container: when, and with which result.

use std::time::Duration;

use gantry_model::Timestamp;

use super::actions::PulledImage;
use super::container_run::Phase;
use super::exits::ExitCause;
use super::messages;
use super::pod::{Deletion, KILLED, Pod};
use super::readiness::{self, ExceededProbe, Simulated};
use crate::behaviour::Pull;

/// How the run of a container ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    /// It exits.
    Exits(i32, ExitCause),
    /// A probe has reached its failure threshold, so that it is stopped.
    Unhealthy(ExceededProbe),
}

impl Simulated<'_> {
    /// Returns when the step of this phase is done. `stopping` is when the container began to be stopped.
    pub(super) fn due(self, phase: &Phase, pod: &Pod, stopping: Option<Timestamp>) -> Option<Timestamp> {
        match phase {
            Phase::Pulling { since, .. } => Some(since.plus(self.behaviour.pull_takes)),
            Phase::Starting { since } => Some(since.plus(self.behaviour.start_takes)),
            Phase::Running { since } => {
                let exits = || {
                    let planned = self.behaviour.exits.map(|exit| since.plus(exit.after));
                    planned.into_iter().chain(readiness::exceeded_at(self, *since)).min()
                };
                stopping.map_or_else(exits, |since| Some(self.stop_due(pod, since)))
            }
            Phase::Stopping { until, .. } => {
                Some(stopping.map_or(*until, |since| self.stop_due(pod, since).min(*until)))
            }
            _ => None,
        }
    }

    /// Returns the result of a pull that took this long.
    pub(super) fn pull_result(self, took: Duration) -> Result<PulledImage, String> {
        if self.behaviour.pull == Pull::Fails {
            return Err(messages::pull_error(&self.spec.image));
        }
        Ok(PulledImage { took, with_waiting: took, bytes: messages::image_bytes(&self.spec.image) })
    }

    /// Returns how a run that began at that time ends now, if it does.
    pub(super) fn run_end(
        self,
        since: Timestamp,
        pod: &Pod,
        stopping: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<RunEnd> {
        let planned = self.behaviour.exits.filter(|exit| since.plus(exit.after) <= now);
        match (stopping, planned) {
            (Some(since), _) => Some(RunEnd::Exits(self.stop_code(pod, since), ExitCause::Exit)),
            (None, Some(exit)) if exit.out_of_memory => {
                Some(RunEnd::Exits(exit.code, ExitCause::OutOfMemory))
            }
            (None, Some(exit)) => Some(RunEnd::Exits(exit.code, ExitCause::Exit)),
            (None, None) => readiness::exceeded_probe(self, since, now).map(RunEnd::Unhealthy),
        }
    }

    /// Returns when a container ends that is stopped within this grace period, and its exit code.
    pub(super) fn stopped_within(self, grace: Duration, now: Timestamp) -> (Timestamp, i32) {
        let takes = self.behaviour.stop_takes;
        (now.plus(takes.min(grace)), if takes <= grace { 0 } else { KILLED })
    }

    /// Returns when a container that is being stopped ends, on its own or killed after the grace period.
    fn stop_due(self, pod: &Pod, since: Timestamp) -> Timestamp {
        let by_itself = since.plus(self.behaviour.stop_takes);
        let killed = pod.deletion.map_or_else(|| since.plus(pod.grace), |Deletion { deadline, .. }| deadline);
        by_itself.min(killed)
    }

    fn stop_code(self, pod: &Pod, since: Timestamp) -> i32 {
        let in_time = self.stop_due(pod, since) == since.plus(self.behaviour.stop_takes);
        if in_time { 0 } else { KILLED }
    }
}
