//! Watches the container runtime: exits, lost sandboxes, and the remains of deleted pods.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gantry_cri::RuntimeError;
use gantry_cri::wire::{PodSandboxState, RuntimeContainerState};
use gantry_nodes::pod_lifecycle::RuntimeReport;
use gantry_nodes::{CachedPod, is_over};
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{Informer, Shutdown};

use crate::agent::Agent;
use crate::environment::container_named;
use crate::housekeeping;
use crate::pod_files::{PodFiles, pods_directory};
use crate::pod_limits::requested;
use crate::resources::{QualityOfService, shares_of};
use crate::runtime_pods::{RuntimePod, RuntimePods};
use crate::sandbox_config::log_directory_name;

/// How often the containers are listed, as by a kubelet.
const EVERY: Duration = Duration::from_secs(1);
/// How many rounds pass between two updates of volumes, two checks of logs, and two checks of the disk.
const REFRESH_ROUNDS: u32 = 20;
const ROTATE_ROUNDS: u32 = 10;
const DISK_ROUNDS: u32 = 300;
/// How long the containers of a pod that was removed from the API have to end.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Watches until shutdown.
pub(crate) async fn run(agent: Arc<Agent>, pods: Informer<CachedPod>, shutdown: Shutdown) {
    let mut round: u32 = 0;
    loop {
        match RuntimePods::list(&agent.cri, &agent.settings.owner).await {
            Ok(listed_pods) => {
                report_changes(&agent, &pods, &listed_pods).await;
                if let Err(error) = clean_up(&agent, &pods, &listed_pods).await {
                    tracing::debug!(%error, "the remains of pods cannot be removed, retrying");
                }
                if round.is_multiple_of(ROTATE_ROUNDS) {
                    housekeeping::rotate_logs(&agent, &listed_pods).await;
                }
            }
            Err(error) => tracing::warn!(%error, "cannot list the containers of the node, retrying"),
        }
        round = round.wrapping_add(1);
        if round.is_multiple_of(DISK_ROUNDS)
            && let Err(error) = housekeeping::remove_images(&agent).await
        {
            tracing::warn!(%error, "unused images cannot be removed");
        }
        if round.is_multiple_of(REFRESH_ROUNDS) {
            refresh_volumes(&agent, &pods).await;
            set_burstable_weight(&agent, &pods);
        }
        tokio::select! {
            () = shutdown.wait() => return,
            () = agent.cleanup.notified() => {}
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// Reports exits that were not handled, and sandboxes that no longer work.
async fn report_changes(agent: &Agent, pods: &Informer<CachedPod>, listed_pods: &RuntimePods) {
    let nothing = RuntimePod::default();
    for (uid, known) in agent.pods.all() {
        let runtime_pod = listed_pods.0.get(&uid).unwrap_or(&nothing);
        let Some(key) = &known.key else { continue };
        let Some(object) = pods.read().get(key).cloned() else { continue };
        for (name, id) in &known.containers {
            let handled = format!("{}://{id}", agent.runtime_name);
            let listed = runtime_pod.containers.iter().find(|container| container.id == *id);
            let has_ended = listed.is_none_or(|container| container.state() == RuntimeContainerState::Exited);
            if !has_ended || known.handled_exits.contains(&handled) {
                continue;
            }
            let Ok(status) = agent.cri.container_status(id).await else { continue };
            let Some(container) = container_named(&object.wire, name) else { continue };
            if let Some(exit) = agent.exit(&object.wire, &uid, &container, &status) {
                agent.report(&uid, RuntimeReport::Exited { container: name.clone(), exit });
            }
        }
        if let Some(sandbox) = &known.sandbox {
            let listed = runtime_pod.sandboxes.iter().find(|listed| listed.id == *sandbox);
            if listed.is_none_or(|listed| listed.state() == PodSandboxState::NotReady) {
                // It may have been created after the list, or be stopping on purpose.
                let is_lost = match agent.cri.sandbox_status(sandbox).await {
                    Ok(status) => status.state() == PodSandboxState::NotReady,
                    Err(error) => error.is_not_found(),
                };
                if is_lost {
                    agent.report(&uid, RuntimeReport::SandboxLost);
                }
            }
        }
    }
}

/// Removes containers that are no longer needed, and all remains of deleted pods.
async fn clean_up(
    agent: &Agent,
    pods: &Informer<CachedPod>,
    listed_pods: &RuntimePods,
) -> Result<(), RuntimeError> {
    if !pods.is_synced() {
        return Ok(());
    }
    let (existing, over): (BTreeSet<String>, BTreeSet<String>) = {
        let pods = pods.read();
        let uids = pods.iter().map(|pod| pod.uid().to_string()).collect();
        let over = pods.iter().filter(|pod| is_over(&pod.wire)).map(|pod| pod.uid().to_string());
        (uids, over.collect())
    };
    for (uid, runtime_pod) in &listed_pods.0 {
        let is_known = agent.pods.get(uid).is_some();
        if !existing.contains(uid) && !is_known {
            remove_all(agent, uid, runtime_pod).await?;
            continue;
        }
        if over.contains(uid) && !is_known {
            for sandbox in runtime_pod.sandboxes.iter().filter(|it| it.state() == PodSandboxState::Ready) {
                agent.cri.stop_sandbox(&sandbox.id).await?;
            }
        }
        for container in runtime_pod.superfluous() {
            agent.cri.remove_container(&container.id).await?;
        }
        for sandbox in runtime_pod.sandboxes.iter().skip(1) {
            let is_used =
                runtime_pod.containers.iter().any(|container| container.pod_sandbox_id == sandbox.id);
            if sandbox.state() == PodSandboxState::NotReady && !is_used {
                agent.cri.remove_sandbox(&sandbox.id).await?;
            }
        }
    }
    remove_directories(agent, &existing, listed_pods);
    Ok(())
}

async fn remove_all(agent: &Agent, uid: &str, runtime_pod: &RuntimePod) -> Result<(), RuntimeError> {
    for container in runtime_pod.containers.iter().filter(|it| it.state() == RuntimeContainerState::Running) {
        agent.cri.stop_container(&container.id, ORPHAN_GRACE).await?;
    }
    for sandbox in &runtime_pod.sandboxes {
        agent.cri.stop_sandbox(&sandbox.id).await?;
    }
    for container in &runtime_pod.containers {
        agent.cri.remove_container(&container.id).await?;
    }
    for sandbox in &runtime_pod.sandboxes {
        agent.cri.remove_sandbox(&sandbox.id).await?;
        if let Some(metadata) = &sandbox.metadata {
            let name = log_directory_name(&metadata.namespace, &metadata.name, uid);
            let _ = fs::remove_dir_all(Path::new(&agent.settings.logs).join(name));
        }
    }
    Ok(())
}

/// Removes the directories and cgroups of deleted pods.
fn remove_directories(agent: &Agent, existing: &BTreeSet<String>, listed_pods: &RuntimePods) {
    let is_needed = |uid: &str| {
        existing.contains(uid) || listed_pods.0.contains_key(uid) || agent.pods.get(uid).is_some()
    };
    let entries = fs::read_dir(pods_directory(&agent.root)).into_iter().flatten().flatten();
    for entry in entries {
        let uid = entry.file_name().to_string_lossy().into_owned();
        if !is_needed(&uid) {
            remove_directory(&agent.root, &uid);
        }
    }
    if let Some(cgroups) = &agent.cgroups {
        cgroups.remove_except(is_needed);
    }
}

pub(crate) fn remove_directory(root: &Path, uid: &str) {
    if let Err(error) = PodFiles::new(root, uid).remove() {
        tracing::warn!(uid, %error, "cannot remove the directory of a pod");
    }
}

/// Sets the weight of all burstable pods to the CPU time that they request together.
fn set_burstable_weight(agent: &Agent, pods: &Informer<CachedPod>) {
    let Some(cgroups) = &agent.cgroups else { return };
    let pods = pods.read();
    let specs = pods.iter().filter(|pod| !is_over(&pod.wire)).filter_map(|pod| pod.wire.spec.as_ref());
    let burstable = specs.filter(|spec| QualityOfService::of(spec) == QualityOfService::Burstable);
    let requested = burstable.map(|spec| requested(spec, "cpu")).sum();
    if let Err(error) = cgroups.set_burstable(shares_of(requested)) {
        tracing::debug!(%error, "the weight of burstable pods cannot be changed");
    }
}

async fn refresh_volumes(agent: &Agent, pods: &Informer<CachedPod>) {
    for (uid, known) in agent.pods.all() {
        let Some(key) = known.key.filter(|_| known.is_mounted) else { continue };
        let object = pods.read().get(&key).cloned();
        if let Some(object) = object.filter(|object| *object.uid().text() == *uid) {
            agent.refresh_volumes(&object.wire, &uid).await;
        }
    }
}
