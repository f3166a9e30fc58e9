//! The cgroups of pods, laid out as by a kubelet, in a separate root for each node: `pod<uid>` in the root for
//! guaranteed pods, in `burstable` and `besteffort` for others. The cgroups of containers are below those of their
//! pods.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gantry_cri::Runtime;
use gantry_cri::wire::CgroupDriver;

use crate::pod_limits::CgroupLimits;
use crate::resources::{PERIOD_MICROSECONDS, QualityOfService, SHARES_MAX, SHARES_MIN, SHARES_PER_CORE};

/// The mount point of the kernel's cgroups.
const MOUNT: &str = "/sys/fs/cgroup";
/// The cgroup of all nodes of this machine.
const ALL: &str = "gantry";
/// The controllers that pods need, in the unified hierarchy.
const CONTROLLERS: [&str; 5] = ["cpu", "memory", "pids", "cpuset", "io"];
const TIERS: [QualityOfService; 3] =
    [QualityOfService::Guaranteed, QualityOfService::Burstable, QualityOfService::BestEffort];

/// The cgroups of the pods of a node.
#[derive(Clone, Debug)]
pub(crate) struct Cgroups {
    mount: PathBuf,
    owner: String,
}

impl Cgroups {
    /// Creates the root of a node's pods. Returns `None` if the runtime has another driver than `cgroupfs`, or if
    /// cgroups cannot be written; then pods have no cgroups.
    pub(crate) async fn prepare(runtime: &Runtime, owner: &str, cpus: usize) -> Option<Self> {
        if runtime.cgroup_driver().await.ok().flatten() != Some(CgroupDriver::Cgroupfs) {
            tracing::info!(
                "the cgroup driver of the runtime is not cgroupfs: pods have no cgroups of their own"
            );
            return None;
        }
        let cgroups = Self::of(owner);
        let cores = i64::try_from(cpus).unwrap_or(1).saturating_mul(SHARES_PER_CORE);
        let prepared = cgroups
            .set("", &weighted(cores.clamp(SHARES_MIN, SHARES_MAX)))
            .and_then(|()| cgroups.set("besteffort", &weighted(SHARES_MIN)))
            .and_then(|()| cgroups.set_burstable(SHARES_MIN));
        match prepared {
            Ok(()) => Some(cgroups),
            Err(error) => {
                tracing::warn!(%error, "cgroups cannot be created: pods have none of their own");
                None
            }
        }
    }

    /// Returns the cgroups of a node, without creating them.
    pub(crate) fn of(owner: &str) -> Self {
        Self { mount: PathBuf::from(MOUNT), owner: owner.to_owned() }
    }

    /// Returns the name of a pod's cgroup, for the runtime.
    pub(crate) fn name(&self, uid: &str, quality: QualityOfService) -> String {
        format!("/{ALL}/{}/{}", self.owner, relative(uid, quality))
    }

    /// Creates the cgroup of a pod, or changes its limits.
    pub(crate) fn set_pod(
        &self,
        uid: &str,
        quality: QualityOfService,
        limits: &CgroupLimits,
    ) -> io::Result<()> {
        self.set(&relative(uid, quality), limits)
    }

    /// Whether a pod has a cgroup; it may have been created without.
    pub(crate) fn has_pod(&self, uid: &str, quality: QualityOfService) -> bool {
        self.hierarchies().iter().any(|hierarchy| self.at(hierarchy, &relative(uid, quality)).is_dir())
    }

    /// Sets the weight of all burstable pods together.
    pub(crate) fn set_burstable(&self, cpu_shares: i64) -> io::Result<()> {
        self.set("burstable", &weighted(cpu_shares))
    }

    /// Removes the cgroups of pods that are no longer needed.
    pub(crate) fn remove_except(&self, is_needed: impl Fn(&str) -> bool) {
        for hierarchy in self.hierarchies() {
            for tier in TIERS {
                for directory in directories(&self.at(&hierarchy, tier_name(tier))) {
                    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    if name.strip_prefix("pod").is_some_and(|uid| !is_needed(uid)) {
                        remove(&directory);
                    }
                }
            }
        }
    }

    /// Removes all cgroups of the node.
    pub(crate) fn remove_all(&self) {
        for hierarchy in self.hierarchies() {
            remove(&self.at(&hierarchy, ""));
            // It is kept while other nodes use it.
            let _ = fs::remove_dir(hierarchy.join(ALL));
        }
    }

    /// Creates a cgroup, or changes its limits.
    fn set(&self, name: &str, limits: &CgroupLimits) -> io::Result<()> {
        if self.is_unified() {
            let directory = self.at(&self.mount, name);
            fs::create_dir_all(&directory)?;
            self.enable_controllers(&directory);
            let quota = limits.cpu_quota.map_or("max".to_owned(), |quota| quota.to_string());
            write(&directory, "cpu.weight", &weight(limits.cpu_shares).to_string())?;
            write(&directory, "cpu.max", &format!("{quota} {PERIOD_MICROSECONDS}"))?;
            let memory = limits.memory.map_or("max".to_owned(), |bytes| bytes.to_string());
            return write(&directory, "memory.max", &memory);
        }
        let or_none = |limit: Option<i64>| limit.unwrap_or(-1).to_string();
        let (cpu, memory) =
            (self.at(&self.mount.join("cpu"), name), self.at(&self.mount.join("memory"), name));
        fs::create_dir_all(&cpu)?;
        fs::create_dir_all(&memory)?;
        write(&cpu, "cpu.shares", &limits.cpu_shares.to_string())?;
        write(&cpu, "cpu.cfs_period_us", &PERIOD_MICROSECONDS.to_string())?;
        write(&cpu, "cpu.cfs_quota_us", &or_none(limits.cpu_quota))?;
        write(&memory, "memory.limit_in_bytes", &or_none(limits.memory))
    }

    /// Enables limits for the children of all cgroups above this one, except by controllers that the machine lacks.
    fn enable_controllers(&self, directory: &Path) {
        let above: Vec<&Path> =
            directory.ancestors().skip(1).take_while(|it| it.starts_with(&self.mount)).collect();
        for parent in above.into_iter().rev() {
            for controller in CONTROLLERS {
                let _ = write(parent, "cgroup.subtree_control", &format!("+{controller}"));
            }
        }
    }

    fn is_unified(&self) -> bool {
        self.mount.join("cgroup.controllers").exists()
    }

    /// Returns the directories below which cgroups are: one, or one of each controller.
    fn hierarchies(&self) -> Vec<PathBuf> {
        if self.is_unified() { vec![self.mount.clone()] } else { directories(&self.mount) }
    }

    fn at(&self, hierarchy: &Path, name: &str) -> PathBuf {
        hierarchy.join(ALL).join(&self.owner).join(name)
    }
}

fn weighted(cpu_shares: i64) -> CgroupLimits {
    CgroupLimits { cpu_shares, cpu_quota: None, memory: None }
}

/// Converts shares to the weight of the unified hierarchy, as runtimes do.
fn weight(shares: i64) -> i64 {
    1 + (shares - SHARES_MIN) * 9999 / (SHARES_MAX - SHARES_MIN)
}

fn tier_name(quality: QualityOfService) -> &'static str {
    match quality {
        QualityOfService::Guaranteed => "",
        QualityOfService::Burstable => "burstable",
        QualityOfService::BestEffort => "besteffort",
    }
}

fn relative(uid: &str, quality: QualityOfService) -> String {
    let tier = tier_name(quality);
    if tier.is_empty() { format!("pod{uid}") } else { format!("{tier}/pod{uid}") }
}

/// Writes a file of a cgroup, unless it has this content: a limit below the current usage is rejected, even if
/// unchanged.
fn write(directory: &Path, file: &str, text: &str) -> io::Result<()> {
    let path = directory.join(file);
    if fs::read_to_string(&path).is_ok_and(|present| present.trim() == text) {
        return Ok(());
    }
    fs::write(&path, text)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn directories(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir())).map(|entry| entry.path()).collect()
}

/// Removes a cgroup and those below it. A cgroup with processes is kept.
fn remove(directory: &Path) {
    for child in directories(directory) {
        remove(&child);
    }
    let _ = fs::remove_dir(directory);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cgroups in a directory that looks like the kernel's.
    fn cgroups(name: &str) -> Cgroups {
        let mount = std::env::temp_dir().join(format!("gantry-cgroups-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&mount);
        fs::create_dir_all(&mount).unwrap();
        Cgroups { mount, owner: "c1.n1".to_owned() }
    }

    const LIMITS: CgroupLimits =
        CgroupLimits { cpu_shares: 1024, cpu_quota: Some(50_000), memory: Some(64 << 20) };

    #[test]
    fn hierarchies_of_controllers_have_limits_of_their_own() {
        let cgroups = cgroups("v1");
        cgroups.set_pod("u1", QualityOfService::Burstable, &LIMITS).unwrap();
        let read = |path: &str| fs::read_to_string(cgroups.mount.join(path)).unwrap();
        assert_eq!(cgroups.name("u1", QualityOfService::Burstable), "/gantry/c1.n1/burstable/podu1");
        assert_eq!(read("cpu/gantry/c1.n1/burstable/podu1/cpu.shares"), "1024");
        assert_eq!(read("cpu/gantry/c1.n1/burstable/podu1/cpu.cfs_quota_us"), "50000");
        assert_eq!(read("memory/gantry/c1.n1/burstable/podu1/memory.limit_in_bytes"), "67108864");
        assert!(cgroups.has_pod("u1", QualityOfService::Burstable));
        assert!(!cgroups.has_pod("u1", QualityOfService::Guaranteed));
        fs::remove_dir_all(&cgroups.mount).unwrap();
    }

    #[test]
    fn the_unified_hierarchy_has_weights_and_enables_controllers_above() {
        let cgroups = cgroups("v2");
        fs::write(cgroups.mount.join("cgroup.controllers"), "cpu memory").unwrap();
        cgroups.set_pod("u1", QualityOfService::Guaranteed, &LIMITS).unwrap();
        let read = |path: &str| fs::read_to_string(cgroups.mount.join(path)).unwrap();
        assert_eq!(read("gantry/c1.n1/podu1/cpu.weight"), "39");
        assert_eq!(read("gantry/c1.n1/podu1/cpu.max"), "50000 100000");
        assert_eq!(read("gantry/c1.n1/podu1/memory.max"), "67108864");
        for above in ["", "gantry/", "gantry/c1.n1/"] {
            assert!(cgroups.mount.join(format!("{above}cgroup.subtree_control")).exists());
        }
        assert!(!cgroups.mount.join("gantry/c1.n1/podu1/cgroup.subtree_control").exists());
        fs::remove_dir_all(&cgroups.mount).unwrap();
    }

    #[test]
    fn cgroups_of_deleted_pods_are_removed() {
        let cgroups = cgroups("removed");
        for uid in ["u1", "u2"] {
            fs::create_dir_all(cgroups.mount.join(format!("cpu/gantry/c1.n1/besteffort/pod{uid}/container")))
                .unwrap();
        }
        cgroups.remove_except(|uid| uid == "u2");
        assert!(!cgroups.has_pod("u1", QualityOfService::BestEffort));
        assert!(cgroups.has_pod("u2", QualityOfService::BestEffort));
        cgroups.remove_all();
        assert!(!cgroups.mount.join("cpu/gantry").exists());
        fs::remove_dir_all(&cgroups.mount).unwrap();
    }
}
