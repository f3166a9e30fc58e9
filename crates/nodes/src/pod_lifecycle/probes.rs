//! Counts the results of a real probe, and computes when it runs next.

use gantry_model::Timestamp;

use super::pod::Probe;

/// The state of one probe of a running container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProbeCounter {
    /// The last result and its number of consecutive occurrences.
    last: Option<(bool, u32)>,
    /// The result that reached its threshold last.
    result: Option<bool>,
    /// When it ran last.
    ran_at: Option<Timestamp>,
    /// Whether it is running.
    is_running: bool,
}

impl ProbeCounter {
    /// Creates the counter of a probe whose result was reported before a restart of the agent.
    pub(super) fn recovered(result: bool) -> Self {
        Self { result: Some(result), ..Self::default() }
    }

    /// Returns the result that reached its threshold last; `None` if none has.
    pub(super) fn result(&self) -> Option<bool> {
        self.result
    }

    /// Returns when it runs next, in a container that runs since then; `None` while it is running.
    pub(super) fn next(&self, probe: &Probe, since: Timestamp) -> Option<Timestamp> {
        if self.is_running {
            return None;
        }
        Some(self.ran_at.map_or_else(|| since.plus(probe.initial_delay), |ran| ran.plus(probe.period)))
    }

    /// Records that it was started.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.is_running = true;
        self.ran_at = Some(now);
    }

    /// Records that it ended without a result.
    pub(super) fn end(&mut self) {
        self.is_running = false;
    }

    /// Counts a result.
    pub(super) fn record(&mut self, probe: &Probe, passed: bool) {
        self.is_running = false;
        let count = match self.last {
            Some((last, count)) if last == passed => count.saturating_add(1),
            _ => 1,
        };
        self.last = Some((passed, count));
        if count >= if passed { probe.successes } else { probe.failures } {
            self.result = Some(passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gantry_json::json;

    use super::super::pod::Pod;
    use super::super::readiness;
    use super::*;
    use crate::behaviour::Profile;

    /// Runs the startup probe of a simulated container one by one; returns when its result is known, and which it is.
    fn counted(ready_seconds: u32, failures: u32, period: u32, delay: u32) -> (Timestamp, bool) {
        let probe = Probe {
            initial_delay: Duration::from_secs(delay.into()),
            period: Duration::from_secs(period.into()),
            successes: 1,
            failures,
            grace: None,
        };
        let since = Timestamp::from_secs(1000);
        let healthy = since.plus(Duration::from_secs(ready_seconds.into()));
        let mut counter = ProbeCounter::default();
        loop {
            let now = counter.next(&probe, since).unwrap();
            counter.begin(now);
            counter.record(&probe, now >= healthy);
            if let Some(result) = counter.result() {
                return (now, result);
            }
        }
    }

    /// The results that are computed in advance for simulated containers are those of counting.
    #[test]
    fn simulated_probes_have_the_results_of_counting() {
        for (ready, failures, period, delay) in [
            (0, 3, 10, 0),
            (5, 3, 1, 0),
            (2, 3, 1, 0),
            (3, 3, 1, 1),
            (7, 4, 2, 3),
            (30, 3, 10, 0),
            (20, 3, 10, 5),
        ] {
            let object = gantry_json::from_value(json!({
                "metadata": {"uid": "u1"},
                "spec": {"containers": [{"name": "web", "image": "nginx", "startupProbe": {
                    "failureThreshold": failures, "periodSeconds": period, "initialDelaySeconds": delay,
                }}]},
            }))
            .unwrap();
            let profile = Profile::read(&format!("default: {{ready-seconds: {ready}}}")).unwrap();
            let pod = Pod::parse(&object, &profile).0;
            let simulated = pod.containers[0].simulated().unwrap();
            let since = Timestamp::from_secs(1000);
            let (at, passes) = counted(ready, failures, period, delay);
            let just_before = at.minus(Duration::from_nanos(1));
            let case = format!("ready={ready} failures={failures} period={period} delay={delay}");
            assert_eq!(readiness::is_started(simulated, since, at), passes, "{case}");
            assert!(!readiness::is_started(simulated, since, just_before), "{case}");
            let exceeded = readiness::exceeded_at(simulated, since);
            assert_eq!(exceeded, (!passes).then_some(at), "{case}");
        }
    }
}
