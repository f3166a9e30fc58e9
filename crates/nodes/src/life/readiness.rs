//! Whether a running container is started, ready and alive: a function of how long it runs, and of its probes.

use std::time::Duration;

use gantry_model::Timestamp;

use super::pod::{Container, Probe};
use crate::behaviour::Ready;

/// The failures of a probe that has its container killed when it fails too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failures {
    /// When it is first tried that may fail; at once if there is no probe.
    first: Timestamp,
    period: Duration,
    /// How often it fails before it passes or gives up.
    failures: u32,
    passes: bool,
}

/// What becomes of the startup probe of a container that runs since then.
pub(super) fn startup(container: &Container, since: Timestamp) -> Failures {
    let Some(probe) = container.startup else {
        return Failures { first: since, period: Duration::ZERO, failures: 0, passes: true };
    };
    let first = since.plus(probe.initial_delay);
    let needed = up_at(container, since).since(first).as_nanos().div_ceil(probe.period.as_nanos().max(1));
    let failures = u32::try_from(needed).unwrap_or(u32::MAX);
    let passes = !never_starts(container) && failures < probe.failures;
    let failures = if passes { failures } else { probe.failures };
    Failures { first, period: probe.period, failures, passes }
}

/// What becomes of the liveness probe of a container that runs since then; `None` if it passes for ever.
pub(super) fn liveness(container: &Container, since: Timestamp) -> Option<Failures> {
    let (probe, fails) = container.liveness.zip(container.behaviour.liveness_fails)?;
    // It is not tried before the startup probe has passed.
    let earliest = startup(container, since).passes()?.max(since.plus(fails));
    let first = first_try(&probe, since, earliest);
    Some(Failures { first, period: probe.period, failures: probe.failures, passes: false })
}

/// The probe that has failed once too often, if one has: its container is to be killed.
pub(super) fn given_up(container: &Container, since: Timestamp, now: Timestamp) -> Option<GivenUp> {
    let is_over = |failures: Failures| failures.gives_up().is_some_and(|at| at <= now);
    if is_over(startup(container, since)) {
        return Some(GivenUp { probe: "startup", grace: container.startup.and_then(|probe| probe.grace) });
    }
    let grace = container.liveness.and_then(|probe| probe.grace);
    liveness(container, since)
        .filter(|failures| is_over(*failures))
        .map(|_| GivenUp { probe: "liveness", grace })
}

/// When a probe will have failed once too often.
pub(super) fn gives_up(container: &Container, since: Timestamp) -> Option<Timestamp> {
    let liveness = liveness(container, since).and_then(|failures| failures.gives_up());
    startup(container, since).gives_up().into_iter().chain(liveness).min()
}

/// A probe that failed too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenUp {
    /// Which one.
    pub(super) probe: &'static str,
    /// How long the container may take to stop, if not as long as its pod says.
    pub(super) grace: Option<Duration>,
}

/// A container without a readiness probe can only be unready because its startup probe fails.
fn never_starts(container: &Container) -> bool {
    let behaviour = &container.behaviour;
    behaviour.startup == Ready::Never || (behaviour.ready == Ready::Never && container.readiness.is_none())
}

impl Failures {
    /// When it passes, if it does.
    fn passes(&self) -> Option<Timestamp> {
        self.passes.then(|| self.first.plus(self.period.saturating_mul(self.failures)))
    }

    /// When it has failed once too often, if it does.
    fn gives_up(&self) -> Option<Timestamp> {
        (!self.passes).then(|| self.first.plus(self.period.saturating_mul(self.failures.saturating_sub(1))))
    }

    /// How often it has failed until now.
    pub(super) fn failures(&self, now: Timestamp) -> u32 {
        if now < self.first || self.failures == 0 {
            return 0;
        }
        let tries = now.since(self.first).as_nanos() / self.period.as_nanos().max(1) + 1;
        u32::try_from(tries).unwrap_or(u32::MAX).min(self.failures)
    }

    /// When it fails next.
    fn next_failure(&self, now: Timestamp) -> Option<Timestamp> {
        let failed = self.failures(now);
        (failed < self.failures).then(|| self.first.plus(self.period.saturating_mul(failed)))
    }
}

/// Whether its startup probe has passed, if it has one.
pub(super) fn is_started(container: &Container, since: Timestamp, now: Timestamp) -> bool {
    startup(container, since).passes().is_some_and(|passes| passes <= now)
}

/// Whether it is ready.
pub(super) fn is_ready(container: &Container, since: Timestamp, now: Timestamp) -> bool {
    match ready_at(container, since) {
        Some(ready) if ready <= now => match container.behaviour.flap {
            Some(period) => flips(period, now.since(ready)).is_multiple_of(2),
            None => true,
        },
        _ => false,
    }
}

/// When one of both will be otherwise, or a failure of a probe will be told.
pub(super) fn next_change(container: &Container, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let ready = ready_at(container, since);
    let flip = ready.filter(|ready| *ready <= now).and_then(|ready| {
        let period = container.behaviour.flap?;
        let next = flips(period, now.since(ready)).saturating_add(1);
        Some(ready.plus(period.saturating_mul(u32::try_from(next).unwrap_or(u32::MAX))))
    });
    let startup = startup(container, since);
    let liveness = liveness(container, since).and_then(|failures| failures.next_failure(now));
    let failures = [startup.next_failure(now), liveness, first_failure(container, since)];
    let moments = [startup.passes(), ready, flip].into_iter().chain(failures);
    moments.flatten().filter(|moment| *moment > now).min()
}

/// Whether its readiness probe was tried while it was not ready.
pub(super) fn has_failed_a_probe(container: &Container, since: Timestamp, now: Timestamp) -> bool {
    first_failure(container, since).is_some_and(|failure| failure <= now)
}

fn first_failure(container: &Container, since: Timestamp) -> Option<Timestamp> {
    let probe = container.readiness?;
    let first = first_try(&probe, since, startup(container, since).passes()?);
    let passes = container.behaviour.ready == Ready::Eventually && up_at(container, since) <= first;
    (!passes).then_some(first)
}

/// When the application would pass a probe.
fn up_at(container: &Container, since: Timestamp) -> Timestamp {
    since.plus(container.behaviour.ready_takes)
}

fn ready_at(container: &Container, since: Timestamp) -> Option<Timestamp> {
    if container.behaviour.ready == Ready::Never {
        return None;
    }
    let earliest = startup(container, since).passes()?.max(up_at(container, since));
    Some(match container.readiness {
        None => earliest,
        Some(probe) => {
            first_try(&probe, since, earliest).plus(probe.period.saturating_mul(probe.successes - 1))
        }
    })
}

/// The first time a probe is tried, not before `earliest`.
fn first_try(probe: &Probe, since: Timestamp, earliest: Timestamp) -> Timestamp {
    let first = since.plus(probe.initial_delay);
    let missed = earliest.since(first).as_nanos().div_ceil(probe.period.as_nanos().max(1));
    first.plus(probe.period.saturating_mul(u32::try_from(missed).unwrap_or(u32::MAX)))
}

/// How often readiness has changed in a while.
fn flips(period: Duration, elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos() / period.as_nanos().max(1)).unwrap_or(u64::MAX)
}
