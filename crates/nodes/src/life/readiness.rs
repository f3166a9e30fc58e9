//! Whether a running container is started and ready: a function of how long it runs, and of its probes.

use std::time::Duration;

use gantry_model::Timestamp;

use super::pod::{Container, Probe};
use crate::behaviour::Ready;

/// Whether its startup probe has passed, if it has one.
pub(super) fn is_started(container: &Container, since: Timestamp, now: Timestamp) -> bool {
    started_at(container, since) <= now
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

/// When one of both will be otherwise, or a probe will fail for the first time.
pub(super) fn next_change(container: &Container, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let ready = ready_at(container, since);
    let flip = ready.filter(|ready| *ready <= now).and_then(|ready| {
        let period = container.behaviour.flap?;
        let next = flips(period, now.since(ready)).saturating_add(1);
        Some(ready.plus(period.saturating_mul(u32::try_from(next).unwrap_or(u32::MAX))))
    });
    let moments = [Some(started_at(container, since)), ready, first_failure(container, since), flip];
    moments.into_iter().flatten().filter(|moment| *moment > now).min()
}

/// Whether its readiness probe was tried while it was not ready.
pub(super) fn has_failed_a_probe(container: &Container, since: Timestamp, now: Timestamp) -> bool {
    first_failure(container, since).is_some_and(|failure| failure <= now)
}

fn first_failure(container: &Container, since: Timestamp) -> Option<Timestamp> {
    let probe = container.readiness?;
    let first = first_try(&probe, since, started_at(container, since));
    let passes = container.behaviour.ready == Ready::Eventually && up_at(container, since) <= first;
    (!passes).then_some(first)
}

/// When the application would pass a probe.
fn up_at(container: &Container, since: Timestamp) -> Timestamp {
    since.plus(container.behaviour.ready_takes)
}

fn started_at(container: &Container, since: Timestamp) -> Timestamp {
    container.startup.map_or(since, |probe| first_try(&probe, since, up_at(container, since)))
}

fn ready_at(container: &Container, since: Timestamp) -> Option<Timestamp> {
    if container.behaviour.ready == Ready::Never {
        return None;
    }
    let earliest = started_at(container, since).max(up_at(container, since));
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
