//! Soft thresholds: a node may be short of a resource for a while before pods are evicted, with a grace period.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_formats::duration;
use gantry_model::Timestamp;

use crate::pressure::{EvictionThresholds, ExceededThreshold, Signal};

/// Soft thresholds, as those of a kubelet's `--eviction-soft`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftEviction {
    thresholds: EvictionThresholds,
    /// How long a signal may be below its threshold.
    grace: BTreeMap<Signal, Duration>,
    /// The maximum grace period of an evicted pod.
    pub(crate) pod_grace_max: Duration,
}

/// Since when each signal has been below its soft threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BelowSince(BTreeMap<Signal, Timestamp>);

impl SoftEviction {
    /// The thresholds with their grace periods, such as `memory.available=1m30s`: each must have one.
    pub fn new(thresholds: EvictionThresholds, grace: &str, pod_grace_max: Duration) -> Result<Self, String> {
        let grace = grace_periods(grace)?;
        if let Some(signal) = thresholds.signals().find(|signal| !grace.contains_key(signal)) {
            return Err(format!(
                "grace period must be specified for the soft eviction threshold {}",
                signal.name()
            ));
        }
        Ok(Self { thresholds, grace, pod_grace_max })
    }

    /// No thresholds, which is the default.
    pub fn none() -> Self {
        let thresholds = EvictionThresholds::none();
        Self { thresholds, grace: BTreeMap::new(), pod_grace_max: Duration::ZERO }
    }

    pub(crate) fn thresholds(&self) -> &EvictionThresholds {
        &self.thresholds
    }

    /// Returns the thresholds that have been exceeded for longer than their grace period.
    pub(crate) fn due(
        &self,
        exceeded: Vec<ExceededThreshold>,
        below_since: &mut BelowSince,
        now: Timestamp,
    ) -> Vec<ExceededThreshold> {
        below_since.0.retain(|signal, _| exceeded.iter().any(|(other, ..)| other == signal));
        let is_due = |(signal, ..): &ExceededThreshold| {
            let since = *below_since.0.entry(*signal).or_insert(now);
            self.grace.get(signal).is_none_or(|grace| now.since(since) >= *grace)
        };
        exceeded.into_iter().filter(is_due).collect()
    }
}

fn grace_periods(text: &str) -> Result<BTreeMap<Signal, Duration>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let parsed = parts.map(|part| {
        let (name, grace) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} is not of the form memory.available=1m30s"))?;
        let nanos = duration::parse(grace).ok().and_then(|nanos| u64::try_from(nanos).ok());
        let grace = nanos.ok_or_else(|| format!("{grace:?} is not a duration such as 1m30s"))?;
        Ok((Signal::parse(name)?, Duration::from_nanos(grace)))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pressure::Measured;

    fn soft(thresholds: &str, grace: &str) -> Result<SoftEviction, String> {
        SoftEviction::new(EvictionThresholds::parse(thresholds).unwrap(), grace, Duration::ZERO)
    }

    #[test]
    fn a_soft_threshold_applies_after_its_grace_period() {
        let soft = soft("memory.available<1Gi", "memory.available=1m30s").unwrap();
        let measured =
            |available| BTreeMap::from([(Signal::MemoryAvailable, Measured { available, capacity: 0 })]);
        let mut below_since = BelowSince::default();
        let mut due = |available, seconds| {
            let exceeded = soft.thresholds().exceeded(&measured(available));
            soft.due(exceeded, &mut below_since, Timestamp::from_secs(seconds)).len()
        };
        assert_eq!(due(5, 100), 0);
        assert_eq!(due(5, 189), 0);
        assert_eq!(due(5, 190), 1);
        assert_eq!(due(2 << 30, 200), 0);
        assert_eq!(due(5, 210), 0, "the grace period starts again");
        assert_eq!(due(5, 300), 1);
    }

    #[test]
    fn each_soft_threshold_needs_a_grace_period() {
        let problem = |thresholds, grace| soft(thresholds, grace).unwrap_err();
        assert_eq!(
            problem("memory.available<1Gi", "nodefs.available=1m"),
            "grace period must be specified for the soft eviction threshold memory.available"
        );
        assert_eq!(
            problem("", "memory.available"),
            "\"memory.available\" is not of the form memory.available=1m30s"
        );
        assert_eq!(problem("", "memory.available=soon"), "\"soon\" is not a duration such as 1m30s");
        assert_eq!(soft("", ""), Ok(SoftEviction::none()));
    }
}
