//! The resource usage of the node's pods.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gantry_cri::{RuntimeError, wire};

use crate::agent::Agent;
use crate::labels;
use crate::pod_files::pods_directory;
use crate::sandbox_config::log_directory_name;

/// The resource usage of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PodUsage {
    pub(crate) containers: BTreeMap<String, ContainerUsage>,
    /// The bytes of each of its emptyDir volumes.
    pub(crate) volumes: BTreeMap<String, u64>,
    /// The bytes on disk: of its containers, its volumes and its logs.
    pub(crate) disk: u64,
    pub(crate) processes: u64,
}

/// The resource usage of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainerUsage {
    /// The bytes of memory that cannot be reclaimed: the working set.
    pub(crate) memory: u64,
    /// The bytes that it has written to its own layer and its log.
    pub(crate) disk: u64,
}

impl PodUsage {
    /// Returns the memory of all containers.
    pub(crate) fn memory(&self) -> u64 {
        self.containers.values().map(|container| container.memory).sum()
    }
}

/// Returns the usage of the pods of this node, by their uid.
pub(crate) async fn pod_usages(agent: &Agent) -> Result<BTreeMap<String, PodUsage>, RuntimeError> {
    let mut usages: BTreeMap<String, PodUsage> = BTreeMap::new();
    for stats in agent.cri.container_stats().await? {
        let Some((uid, name)) = own_container(&stats, &agent.settings.owner) else { continue };
        let layer = stats.writable_layer.as_ref().and_then(|layer| layer.used_bytes.as_ref());
        let usage = ContainerUsage {
            memory: value(stats.memory.as_ref().and_then(|memory| memory.working_set_bytes.as_ref())),
            disk: value(layer) + log_bytes(agent, uid, name),
        };
        let pod = usages.entry(uid.to_owned()).or_default();
        pod.disk += usage.disk;
        pod.containers.insert(name.to_owned(), usage);
    }
    // Not every runtime has statistics of sandboxes.
    for stats in agent.cri.sandbox_stats().await.unwrap_or_default() {
        let Some(attributes) = &stats.attributes else { continue };
        if attributes.labels.get(labels::OWNER) == Some(&agent.settings.owner)
            && let Some(uid) = attributes.labels.get(labels::POD_UID)
        {
            let processes = stats.linux.as_ref().and_then(|linux| linux.process.as_ref());
            usages.entry(uid.clone()).or_default().processes =
                value(processes.and_then(|processes| processes.process_count.as_ref()));
        }
    }
    for (uid, usage) in &mut usages {
        usage.disk += directory_bytes(&pods_directory(&agent.root).join(uid));
        usage.volumes =
            agent.files(uid).empty_dirs().map(|(name, path)| (name, directory_bytes(&path))).collect();
    }
    Ok(usages)
}

/// Returns the bytes of the logs of a container.
fn log_bytes(agent: &Agent, uid: &str, container: &str) -> u64 {
    let key = agent.pods.get(uid).and_then(|known| known.key);
    let directory = key.map(|key| log_directory_name(key.namespace.as_str(), key.name.as_str(), uid));
    directory.map_or(0, |directory| {
        directory_bytes(&Path::new(&agent.settings.logs).join(directory).join(container))
    })
}

/// Returns the uid of the pod and the name of a container of this node.
pub(crate) fn own_container<'a>(stats: &'a wire::ContainerStats, owner: &str) -> Option<(&'a str, &'a str)> {
    let labels = &stats.attributes.as_ref()?.labels;
    let is_ours = labels.get(labels::OWNER).is_some_and(|label| label == owner);
    let (uid, name) = (labels.get(labels::POD_UID)?, labels.get(labels::CONTAINER_NAME)?);
    is_ours.then_some((uid, name))
}

pub(crate) fn value(value: Option<&wire::UInt64Value>) -> u64 {
    value.map_or(0, |value| value.value)
}

/// Returns the bytes that the files of a directory take, without those of other file systems.
pub(crate) fn directory_bytes(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;

    let Ok(root) = fs::symlink_metadata(directory) else { return 0 };
    let (mut bytes, mut left) = (0, vec![directory.to_owned()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.dev() != root.dev() {
                continue;
            }
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                left.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_directory_are_counted() {
        let directory = std::env::temp_dir().join(format!("gantry-usage-{}", std::process::id()));
        fs::create_dir_all(directory.join("inner")).unwrap();
        fs::write(directory.join("inner/file"), vec![1; 100_000]).unwrap();
        assert!((100_000..200_000).contains(&directory_bytes(&directory)), "{}", directory_bytes(&directory));
        assert_eq!(directory_bytes(&directory.join("missing")), 0);
        fs::remove_dir_all(directory).unwrap();
    }
}
