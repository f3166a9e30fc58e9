//! Whether a running container of a simulated node is started, ready and healthy, from its start time, its probes and
//! its behaviour.
//!
//! The results of its probes are known in advance, so that it is synced only when one of them changes something. A test
//! checks that they agree with [`ProbeCounter`](super::probes::ProbeCounter), which counts the results of real probes.

use std::time::Duration;

use gantry_model::Timestamp;

use super::pod::{Behaviour, Container, Probe};
use crate::behaviour::Ready;

/// A container with its simulated behaviour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simulated<'a> {
    pub(super) spec: &'a Container,
    pub(super) behaviour: &'a Behaviour,
}

impl Container {
    /// Returns the container with its simulated behaviour; `None` if a container runtime runs it.
    pub(super) fn simulated(&self) -> Option<Simulated<'_>> {
        self.behaviour.as_ref().map(|behaviour| Simulated { spec: self, behaviour })
    }
}

/// When a startup or liveness probe fails, and whether it passes in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailureSchedule {
    /// The first failure; the start of the container if there is no probe.
    first: Timestamp,
    period: Duration,
    /// The number of failures until it passes or reaches its threshold.
    failures: u32,
    passes: bool,
}

/// Computes the failures of the startup probe of a container that runs since then.
pub(super) fn startup(container: Simulated<'_>, since: Timestamp) -> FailureSchedule {
    let Some(probe) = container.spec.startup else {
        return FailureSchedule { first: since, period: Duration::ZERO, failures: 0, passes: true };
    };
    let first = since.plus(probe.initial_delay);
    let needed =
        healthy_at(container, since).since(first).as_nanos().div_ceil(probe.period.as_nanos().max(1));
    let failures = u32::try_from(needed).unwrap_or(u32::MAX);
    let passes = !startup_always_fails(container) && failures < probe.failures;
    let failures = if passes { failures } else { probe.failures };
    FailureSchedule { first, period: probe.period, failures, passes }
}

/// Computes the failures of the liveness probe of a container that runs since then; `None` if it always passes.
pub(super) fn liveness(container: Simulated<'_>, since: Timestamp) -> Option<FailureSchedule> {
    let (probe, fails) = container.spec.liveness.zip(container.behaviour.liveness_fails)?;
    // Liveness is not probed before the startup probe has passed.
    let earliest = startup(container, since).passes_at()?.max(since.plus(fails));
    let first = first_run_at(&probe, since, earliest);
    Some(FailureSchedule { first, period: probe.period, failures: probe.failures, passes: false })
}

/// Returns the probe that has reached its failure threshold, for which the container is killed.
pub(super) fn exceeded_probe(
    container: Simulated<'_>,
    since: Timestamp,
    now: Timestamp,
) -> Option<ExceededProbe> {
    let is_exceeded = |failures: FailureSchedule| failures.exceeded_at().is_some_and(|at| at <= now);
    if is_exceeded(startup(container, since)) {
        return Some(ExceededProbe {
            probe: "startup",
            grace: container.spec.startup.and_then(|probe| probe.grace),
        });
    }
    let grace = container.spec.liveness.and_then(|probe| probe.grace);
    liveness(container, since)
        .filter(|failures| is_exceeded(*failures))
        .map(|_| ExceededProbe { probe: "liveness", grace })
}

/// Returns when a probe reaches its failure threshold.
pub(super) fn exceeded_at(container: Simulated<'_>, since: Timestamp) -> Option<Timestamp> {
    let liveness = liveness(container, since).and_then(|failures| failures.exceeded_at());
    startup(container, since).exceeded_at().into_iter().chain(liveness).min()
}

/// A probe that has reached its failure threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExceededProbe {
    /// Its name.
    pub(super) probe: &'static str,
    /// The grace period of the container, if it differs from the pod's.
    pub(super) grace: Option<Duration>,
}

/// Whether the startup probe never passes. Without a readiness probe, only this makes a container unready.
fn startup_always_fails(container: Simulated<'_>) -> bool {
    let behaviour = container.behaviour;
    behaviour.startup == Ready::Never
        || (behaviour.ready == Ready::Never && container.spec.readiness.is_none())
}

impl FailureSchedule {
    /// Returns when it passes, if it does.
    fn passes_at(&self) -> Option<Timestamp> {
        self.passes.then(|| self.first.plus(self.period.saturating_mul(self.failures)))
    }

    /// Returns when it reaches its failure threshold, if it does.
    fn exceeded_at(&self) -> Option<Timestamp> {
        (!self.passes).then(|| self.first.plus(self.period.saturating_mul(self.failures.saturating_sub(1))))
    }

    /// Returns the number of failures so far.
    pub(super) fn failures(&self, now: Timestamp) -> u32 {
        if now < self.first || self.failures == 0 {
            return 0;
        }
        let tries = now.since(self.first).as_nanos() / self.period.as_nanos().max(1) + 1;
        u32::try_from(tries).unwrap_or(u32::MAX).min(self.failures)
    }

    /// Returns when it fails next.
    fn next_failure(&self, now: Timestamp) -> Option<Timestamp> {
        let failed = self.failures(now);
        (failed < self.failures).then(|| self.first.plus(self.period.saturating_mul(failed)))
    }
}

/// Whether a container's startup probe has passed, if it has one.
pub(super) fn is_started(container: Simulated<'_>, since: Timestamp, now: Timestamp) -> bool {
    startup(container, since).passes_at().is_some_and(|passes| passes <= now)
}

/// Whether a container is ready.
pub(super) fn is_ready(container: Simulated<'_>, since: Timestamp, now: Timestamp) -> bool {
    match ready_at(container, since) {
        Some(ready) if ready <= now => match container.behaviour.flap {
            Some(period) => flips(period, now.since(ready)).is_multiple_of(2),
            None => true,
        },
        _ => false,
    }
}

/// Returns when a container is started, changes its readiness, or fails a probe next.
pub(super) fn next_change(container: Simulated<'_>, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let ready = ready_at(container, since);
    let flip = ready.filter(|ready| *ready <= now).and_then(|ready| {
        let period = container.behaviour.flap?;
        let next = flips(period, now.since(ready)).saturating_add(1);
        Some(ready.plus(period.saturating_mul(u32::try_from(next).unwrap_or(u32::MAX))))
    });
    let startup = startup(container, since);
    let liveness = liveness(container, since).and_then(|failures| failures.next_failure(now));
    let failures = [startup.next_failure(now), liveness, first_failure(container, since)];
    let times = [startup.passes_at(), ready, flip].into_iter().chain(failures);
    times.flatten().filter(|time| *time > now).min()
}

/// Whether a container has failed its readiness probe.
pub(super) fn has_failed_readiness(container: Simulated<'_>, since: Timestamp, now: Timestamp) -> bool {
    first_failure(container, since).is_some_and(|failure| failure <= now)
}

fn first_failure(container: Simulated<'_>, since: Timestamp) -> Option<Timestamp> {
    let probe = container.spec.readiness?;
    let first = first_run_at(&probe, since, startup(container, since).passes_at()?);
    let passes = container.behaviour.ready == Ready::Eventually && healthy_at(container, since) <= first;
    (!passes).then_some(first)
}

/// Returns when the application starts to pass probes.
fn healthy_at(container: Simulated<'_>, since: Timestamp) -> Timestamp {
    since.plus(container.behaviour.ready_takes)
}

fn ready_at(container: Simulated<'_>, since: Timestamp) -> Option<Timestamp> {
    if container.behaviour.ready == Ready::Never {
        return None;
    }
    let earliest = startup(container, since).passes_at()?.max(healthy_at(container, since));
    Some(match container.spec.readiness {
        None => earliest,
        Some(probe) => {
            first_run_at(&probe, since, earliest).plus(probe.period.saturating_mul(probe.successes - 1))
        }
    })
}

/// Returns the first time at or after `earliest` at which a probe runs.
fn first_run_at(probe: &Probe, since: Timestamp, earliest: Timestamp) -> Timestamp {
    let first = since.plus(probe.initial_delay);
    let missed = earliest.since(first).as_nanos().div_ceil(probe.period.as_nanos().max(1));
    first.plus(probe.period.saturating_mul(u32::try_from(missed).unwrap_or(u32::MAX)))
}

/// Returns how often readiness has changed in that time.
fn flips(period: Duration, elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos() / period.as_nanos().max(1)).unwrap_or(u64::MAX)
}
