//! Rotates logs, and removes unused images when the disk is nearly full.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gantry_cri::RuntimeError;
use gantry_cri::wire;

use crate::agent::Agent;
use crate::runtime_pods::RuntimePods;

/// The size at which a log is rotated, and the number of files that are kept: the kubelet's defaults.
const LOG_BYTES_MAX: u64 = 10 << 20;
const LOGS_KEPT: usize = 4;
/// Images are removed above the first share of the disk, until the second is reached: the kubelet's defaults.
const DISK_PERCENT_HIGH: u64 = 85;
const DISK_PERCENT_LOW: u64 = 80;

/// Rotates the logs of running containers that have become too large.
pub(crate) async fn rotate_logs(agent: &Agent, listed_pods: &RuntimePods) {
    for runtime_pod in listed_pods.0.values() {
        for container in &runtime_pod.containers {
            if container.state() != wire::RuntimeContainerState::Running {
                continue;
            }
            let Ok(status) = agent.cri.container_status(&container.id).await else { continue };
            let log = PathBuf::from(&status.log_path);
            if fs::metadata(&log).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX) {
                let rotated = rotated_name(&log, agent.clock.now().as_nanos());
                if fs::rename(&log, rotated).is_ok() {
                    // Without it the runtime would write to the renamed file.
                    let _ = agent.cri.reopen_log(&container.id).await;
                    remove_old_logs(&log);
                }
            }
        }
    }
}

fn rotated_name(log: &Path, now: i64) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{now}"));
    PathBuf::from(name)
}

/// Removes the oldest rotated files of a log.
fn remove_old_logs(log: &Path) {
    let (Some(directory), Some(name)) = (log.parent(), log.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    let prefix = format!("{name}.");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_rotated = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&prefix))
    };
    let mut rotated: Vec<_> = entries.filter(is_rotated).collect();
    rotated.sort();
    for old in rotated.iter().take(rotated.len().saturating_sub(LOGS_KEPT)) {
        let _ = fs::remove_file(old);
    }
}

/// Removes images that no container uses, the largest first, if the disk is nearly full.
pub(crate) async fn remove_images(agent: &Agent) -> Result<(), RuntimeError> {
    let Some(disk) = agent.cri.image_file_systems().await?.into_iter().next() else { return Ok(()) };
    if used_percent(Path::new(&disk)) < DISK_PERCENT_HIGH {
        return Ok(());
    }
    remove_unused_images(agent, || used_percent(Path::new(&disk)) < DISK_PERCENT_LOW).await
}

/// Removes images that no container uses, the largest first, until there is enough room.
pub(crate) async fn remove_unused_images(
    agent: &Agent,
    is_enough: impl Fn() -> bool,
) -> Result<(), RuntimeError> {
    let containers = agent.cri.containers().await?;
    let used: BTreeSet<String> = containers
        .into_iter()
        .flat_map(|container| [container.image_ref, container.image.unwrap_or_default().image])
        .collect();
    for image in unused_images(agent.cri.images().await?, &used) {
        if is_enough() {
            return Ok(());
        }
        tracing::info!(image = ?image.repo_tags, "removing an unused image, because the disk is nearly full");
        agent.cri.remove_image(&image.id).await?;
    }
    Ok(())
}

/// Returns the images that may be removed, the largest first.
fn unused_images(images: Vec<wire::Image>, used: &BTreeSet<String>) -> Vec<wire::Image> {
    let is_used = |image: &wire::Image| {
        let names = image.repo_tags.iter().chain(&image.repo_digests).chain([&image.id]);
        // The image of sandboxes is pinned by newer runtimes, and has this name with all.
        image.pinned || names.into_iter().any(|name| used.contains(name) || name.contains("/pause:"))
    };
    let mut unused: Vec<_> = images.into_iter().filter(|image| !is_used(image)).collect();
    unused.sort_by_key(|image| std::cmp::Reverse(image.size));
    unused
}

fn used_percent(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(0, |disk| 100 - disk.f_bavail * 100 / disk.f_blocks.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_containers_and_pinned_ones_are_kept() {
        let image = |id: &str, size: u64, pinned: bool| wire::Image {
            id: id.to_owned(),
            repo_tags: vec![format!("{id}:1")],
            size,
            pinned,
            ..wire::Image::default()
        };
        let images = vec![
            image("small", 1, false),
            image("pause", 9, true),
            image("web", 8, false),
            image("large", 7, false),
        ];
        let unused = unused_images(images, &BTreeSet::from(["web:1".to_owned()]));
        assert_eq!(unused.iter().map(|image| image.id.as_str()).collect::<Vec<_>>(), ["large", "small"]);
    }

    #[test]
    fn the_oldest_rotated_logs_are_removed() {
        let directory = std::env::temp_dir().join(format!("gantry-rotated-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let log = directory.join("0.log");
        for name in ["0.log", "0.log.1", "0.log.2", "0.log.3", "0.log.4", "0.log.5", "1.log"] {
            fs::write(directory.join(name), "").unwrap();
        }
        remove_old_logs(&log);
        let mut left: Vec<_> = fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["0.log", "0.log.2", "0.log.3", "0.log.4", "0.log.5", "1.log"]);
        fs::remove_dir_all(directory).unwrap();
    }
}
