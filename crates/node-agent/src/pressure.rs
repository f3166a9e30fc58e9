//! Whether the node is short of a resource: the measurements and the thresholds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use gantry_formats::quantity::Quantity;
use gantry_model::Timestamp;

gantry_formats::text_enum! {
    /// A measured resource, with a kubelet's name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Signal {
        MemoryAvailable = "memory.available",
        DiskAvailable = "nodefs.available",
        DiskInodesFree = "nodefs.inodesFree",
        ImageDiskAvailable = "imagefs.available",
        ImageDiskInodesFree = "imagefs.inodesFree",
        ProcessesAvailable = "pid.available",
    }

    const ALL: [Self; 6];
    /// Returns its name in thresholds.
    pub(crate) fn name(self) -> &'static str;
}

impl Signal {
    /// Parses a name.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|signal| signal.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|signal| signal.name()).collect();
            format!("{name:?} is not one of {}", known.join(", "))
        })
    }

    /// Returns the resource that messages name.
    pub(crate) fn resource(self) -> &'static str {
        match self {
            Self::MemoryAvailable => "memory",
            Self::DiskAvailable | Self::ImageDiskAvailable => "ephemeral-storage",
            Self::DiskInodesFree | Self::ImageDiskInodesFree => "inodes",
            Self::ProcessesAvailable => "pids",
        }
    }

    /// Returns the condition of a node that is short of it.
    pub(crate) fn condition(self) -> &'static str {
        match self {
            Self::MemoryAvailable => MEMORY_PRESSURE,
            Self::ProcessesAvailable => "PIDPressure",
            _ => "DiskPressure",
        }
    }

    /// Returns an amount of it in a kubelet's format.
    pub(crate) fn shown(self, amount: u64) -> String {
        match self {
            Self::MemoryAvailable | Self::DiskAvailable | Self::ImageDiskAvailable => shown_bytes(amount),
            _ => amount.to_string(),
        }
    }
}

/// The condition under which pods without requests are not accepted.
pub(crate) const MEMORY_PRESSURE: &str = "MemoryPressure";

/// Returns a number of bytes as a quantity with a binary suffix.
pub(crate) fn shown_bytes(bytes: u64) -> String {
    let text = if bytes.is_multiple_of(1024) { format!("{}Ki", bytes / 1024) } else { bytes.to_string() };
    Quantity::parse(&text).map_or(text, |quantity| quantity.to_string())
}

/// The available amount of a resource, and its capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) available: u64,
    pub(crate) capacity: u64,
}

/// The threshold of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThresholdValue {
    Amount(u64),
    /// In thousandths of the capacity.
    Share(u64),
}

/// The thresholds below which pods are evicted, as those of a kubelet's `--eviction-hard` and `--eviction-soft`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvictionThresholds(BTreeMap<Signal, ThresholdValue>);

/// A signal that is below its threshold: the measurement, and the threshold.
pub(crate) type ExceededThreshold = (Signal, Measured, u64);

impl Default for EvictionThresholds {
    /// The kubelet's defaults.
    fn default() -> Self {
        Self(BTreeMap::from([
            (Signal::MemoryAvailable, ThresholdValue::Amount(100 << 20)),
            (Signal::DiskAvailable, ThresholdValue::Share(100)),
            (Signal::DiskInodesFree, ThresholdValue::Share(50)),
            (Signal::ImageDiskAvailable, ThresholdValue::Share(150)),
            (Signal::ImageDiskInodesFree, ThresholdValue::Share(50)),
        ]))
    }
}

impl EvictionThresholds {
    /// Parses thresholds: `memory.available<100Mi,nodefs.available<10%`. Signals that are not named have no threshold,
    /// and an empty text means none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut thresholds = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, least) = part
                .split_once('<')
                .ok_or_else(|| format!("{part:?} is not of the form memory.available<100Mi"))?;
            let signal = Signal::parse(name)?;
            let least = ThresholdValue::parse(least)
                .ok_or_else(|| format!("{least:?} is neither a quantity nor a percentage"))?;
            thresholds.insert(signal, least);
        }
        Ok(Self(thresholds))
    }

    /// No thresholds.
    pub(crate) fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns the signals that have a threshold.
    pub(crate) fn signals(&self) -> impl Iterator<Item = Signal> {
        self.0.keys().copied()
    }

    /// Returns the signals that are below their threshold, with the threshold.
    pub(crate) fn exceeded(&self, measured: &BTreeMap<Signal, Measured>) -> Vec<ExceededThreshold> {
        let least = self.0.iter().filter_map(|(signal, least)| {
            let found = measured.get(signal)?;
            Some((*signal, *found, least.of(found.capacity)))
        });
        least.filter(|(_, found, least)| found.available < *least).collect()
    }
}

impl ThresholdValue {
    fn parse(text: &str) -> Option<Self> {
        let Some(percent) = text.strip_suffix('%') else {
            let billionths = Quantity::parse(text).ok()?.checked_billionths()?;
            return u64::try_from(billionths / 1_000_000_000).ok().map(Self::Amount);
        };
        let percent: f64 = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 1000"
        )]
        Some(Self::Share((percent * 10.0).round() as u64))
    }

    fn of(self, capacity: u64) -> u64 {
        match self {
            Self::Amount(amount) => amount,
            Self::Share(thousandths) => {
                (u128::from(capacity) * u128::from(thousandths) / 1000).try_into().unwrap_or(u64::MAX)
            }
        }
    }
}

/// The pressure conditions of a node, with the time until which each is reported: a while longer than it holds, so that
/// pods are not alternately accepted and evicted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pressures(BTreeMap<&'static str, Timestamp>);

impl Pressures {
    /// Records the signals that are below their threshold now.
    pub(crate) fn observe(&mut self, exceeded: &[ExceededThreshold], transition: Duration, now: Timestamp) {
        for (signal, ..) in exceeded {
            self.0.insert(signal.condition(), now.plus(transition));
        }
        self.0.retain(|_, until| *until > now);
    }

    /// Returns the names of the conditions that are reported.
    pub(crate) fn conditions(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }
}

/// Measures the available resources of the machine. `disk` is in the file system of pods, `images` in that of images.
pub(crate) fn measure(disk: &Path, images: Option<&Path>) -> BTreeMap<Signal, Measured> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut measured = BTreeMap::new();
    measured.extend(memory(&text("/proc/meminfo")).map(|found| (Signal::MemoryAvailable, found)));
    measured.extend(
        processes(&text("/proc/loadavg"), &text("/proc/sys/kernel/pid_max"))
            .map(|found| (Signal::ProcessesAvailable, found)),
    );
    let mut add = |path: &Path, space: Signal, inodes: Signal| {
        if let Ok(disk) = rustix::fs::statvfs(path) {
            let capacity = disk.f_blocks * disk.f_frsize;
            measured.insert(space, Measured { available: disk.f_bavail * disk.f_frsize, capacity });
            // Some file systems do not count inodes.
            if disk.f_files > 0 {
                measured.insert(inodes, Measured { available: disk.f_favail, capacity: disk.f_files });
            }
        }
    };
    add(disk, Signal::DiskAvailable, Signal::DiskInodesFree);
    if let Some(images) = images {
        add(images, Signal::ImageDiskAvailable, Signal::ImageDiskInodesFree);
    }
    measured
}

fn memory(text: &str) -> Option<Measured> {
    let kibibytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    };
    let (available, capacity) = (kibibytes("MemAvailable:")?, kibibytes("MemTotal:")?);
    Some(Measured { available: available * 1024, capacity: capacity * 1024 })
}

/// Reads the number of threads that exist, as in `0.00 0.01 0.05 1/214 12345`, and the maximum.
fn processes(load: &str, most: &str) -> Option<Measured> {
    let existing: u64 = load.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()?;
    let capacity: u64 = most.trim().parse().ok()?;
    Some(Measured { available: capacity.saturating_sub(existing), capacity })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(signal: Signal, available: u64, capacity: u64) -> BTreeMap<Signal, Measured> {
        BTreeMap::from([(signal, Measured { available, capacity })])
    }

    #[test]
    fn a_threshold_is_an_amount_or_a_share() {
        let thresholds = EvictionThresholds::parse("memory.available<100Mi, nodefs.available<12.5%").unwrap();
        let exceeded = |signal, available, capacity| {
            let exceeded = thresholds.exceeded(&measured(signal, available, capacity));
            exceeded.first().map(|(_, _, least)| *least)
        };
        assert_eq!(exceeded(Signal::MemoryAvailable, 99 << 20, 1 << 30), Some(100 << 20));
        assert_eq!(exceeded(Signal::MemoryAvailable, 100 << 20, 1 << 30), None);
        assert_eq!(exceeded(Signal::DiskAvailable, 124, 1000), Some(125));
        assert_eq!(exceeded(Signal::ImageDiskAvailable, 0, 1000), None, "it has no threshold");
        assert_eq!(EvictionThresholds::parse("").unwrap().0.len(), 0);
        assert_eq!(EvictionThresholds::default().0.len(), 5);
    }

    #[test]
    fn an_invalid_threshold_is_reported() {
        let problem = |text| EvictionThresholds::parse(text).unwrap_err();
        assert_eq!(
            problem("memory.available"),
            "\"memory.available\" is not of the form memory.available<100Mi"
        );
        assert!(
            problem("memory<1Gi").starts_with("\"memory\" is not one of memory.available, nodefs.available,")
        );
        assert_eq!(problem("memory.available<lots"), "\"lots\" is neither a quantity nor a percentage");
        assert_eq!(problem("memory.available<101%"), "\"101%\" is neither a quantity nor a percentage");
    }

    #[test]
    fn a_condition_is_reported_for_the_transition_period() {
        let (mut pressures, minute) = (Pressures::default(), Duration::from_secs(60));
        let exceeded = [(Signal::ImageDiskAvailable, Measured::default(), 1)];
        pressures.observe(&exceeded, minute, Timestamp::from_secs(100));
        pressures.observe(&[], minute, Timestamp::from_secs(159));
        assert_eq!(pressures.conditions(), ["DiskPressure"]);
        pressures.observe(&[], minute, Timestamp::from_secs(160));
        assert_eq!(pressures.conditions(), [""; 0]);
    }

    #[test]
    fn files_of_the_kernel_are_read() {
        let found = memory("MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    1024 kB\n");
        assert_eq!(found, Some(Measured { available: 1 << 20, capacity: 16 << 20 }));
        let found = processes("0.00 0.01 0.05 1/214 12345\n", "32768\n");
        assert_eq!(found, Some(Measured { available: 32554, capacity: 32768 }));
        assert_eq!((shown_bytes(100 << 20), shown_bytes(1025)), ("100Mi".to_owned(), "1025".to_owned()));
    }
}
