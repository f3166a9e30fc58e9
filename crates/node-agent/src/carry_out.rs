//! Carries out the actions of pods.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_cri::{RuntimeError, wire};
use gantry_model::{Event, Timestamp};
use gantry_nodes::CachedPod;
use gantry_nodes::pod_lifecycle::{
    ContainerAmounts, ContainerExit, ContainerProbe, PulledImage, RuntimeAction, RuntimeReport,
    SandboxFailure, StartFailure, StartStep, StartedContainer,
};
use gantry_runtime::informer::Cached as _;
use k8s_openapi::api::core::v1 as core;

use crate::agent::Agent;
use crate::container_config::{ContainerInputs, container_config};
use crate::environment::{container_named, environment, service_variables};
use crate::pod_files::hosts_text;
use crate::probe_runner::ProbeTarget;
use crate::pull_secrets::credentials;
use crate::resources::{changed_resources, container_resources};
use crate::runtime_pods;
use crate::sandbox_config::{full_name, host_name, log_directory};
use crate::security::root_problem;
use crate::termination;
use crate::volume_payload::PayloadInputs;

/// The minimum time that a container has to end after its hook, as with a kubelet.
const GRACE_MIN: Duration = Duration::from_secs(2);
/// How long the end of a container may be delayed until connections to Services are routed to other pods.
/// It takes milliseconds, but longer on a busy machine or after a restart of the agent, whose caches are filled first.
const REROUTE_MAX: Duration = Duration::from_secs(10);
/// How long a hook after the start may take; a kubelet has no limit.
const POST_START_MAX: Duration = Duration::from_hours(1);

impl Agent {
    /// Carries out one action and reports its result.
    pub(crate) async fn carry_out(self: Arc<Self>, pod: Arc<CachedPod>, action: RuntimeAction) {
        let uid = pod.uid().to_string();
        tracing::debug!(pod = %pod.key(), ?action, "carrying out");
        let report = match action {
            RuntimeAction::CreateSandbox { attempt } => {
                let result = self.create_sandbox(&pod.wire, &uid, attempt).await;
                Some(RuntimeReport::Sandbox(result))
            }
            RuntimeAction::StopSandbox => self.stop_sandbox(&uid).await,
            RuntimeAction::InspectImage { container } => {
                let image = image_of(&pod.wire, &container);
                let present = self.cri.image(&image).await.is_ok_and(|image| image.is_some());
                Some(RuntimeReport::Image { container, present })
            }
            RuntimeAction::PullImage { container } => {
                let result = self.pull(&pod.wire, &image_of(&pod.wire, &container)).await;
                Some(RuntimeReport::Pulled { container, result })
            }
            RuntimeAction::StartContainer { container, attempt, amounts } => {
                let attempt = u32::try_from(attempt).unwrap_or(0);
                let result = Box::pin(self.start(&pod, &uid, &container, attempt, &amounts)).await;
                Some(RuntimeReport::Started { container, result })
            }
            RuntimeAction::ResizeContainer { container, id, amounts } => {
                let result = self.resize(&pod.wire, &uid, &container, &id, &amounts).await;
                Some(RuntimeReport::Resized { container, id, result })
            }
            RuntimeAction::StopContainer { container, grace } => {
                self.stop(&pod, &uid, container, grace).await
            }
            RuntimeAction::Probe { container, probe, id } => {
                let result = self.probe(&pod.wire, &container, probe, &id).await;
                result.map(|result| RuntimeReport::Probed { container, id, probe, result })
            }
        };
        if let Some(report) = report {
            tracing::debug!(pod = %pod.key(), ?report, "reported");
            self.report(&uid, report);
        }
    }

    async fn create_sandbox(&self, pod: &core::Pod, uid: &str, attempt: u32) -> Result<(), SandboxFailure> {
        self.mount_volumes(pod, uid).await.map_err(SandboxFailure::Mounts)?;
        let runtime = |error: RuntimeError| SandboxFailure::Runtime(error.to_string());
        self.create_cgroup(pod, uid).map_err(|error| {
            SandboxFailure::Runtime(format!("unable to ensure pod container exists: {error}"))
        })?;
        let config = self.sandbox_config(pod, attempt);
        let file = |error: std::io::Error| SandboxFailure::Runtime(error.to_string());
        std::fs::create_dir_all(&config.log_directory).map_err(file)?;
        let handler =
            self.objects.runtime_handler(pod).await.map_err(|error| {
                SandboxFailure::Runtime(format!("failed to get sandbox runtime: {error}"))
            })?;
        let id = self.cri.run_sandbox(config, handler).await.map_err(runtime)?;
        let ips = self.cri.sandbox_status(&id).await.map_err(runtime)?.ips();
        self.pods.change(uid, |known| {
            known.sandbox = Some(id);
            known.ips.clone_from(&ips);
        });
        self.write_hosts(pod, uid, &ips).map_err(file)
    }

    fn write_hosts(&self, pod: &core::Pod, uid: &str, ips: &[String]) -> std::io::Result<()> {
        let is_host = pod.spec.as_ref().is_some_and(|spec| spec.host_network == Some(true));
        let of_node =
            if is_host { Some(std::fs::read_to_string("/etc/hosts").unwrap_or_default()) } else { None };
        let name = host_name(pod, &self.settings);
        let short = name.split('.').next().unwrap_or_default();
        let full = full_name(pod, short, &self.settings);
        let text = hosts_text(pod, ips, short, full.as_deref(), of_node.as_deref());
        self.files(uid).write_hosts(&text)
    }

    /// Mounts the volumes of a pod. Returns the errors by volume.
    async fn mount_volumes(&self, pod: &core::Pod, uid: &str) -> Result<(), Vec<(String, String)>> {
        let first = || {
            let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
            volumes.map(|volume| volume.name.clone()).next().unwrap_or_default()
        };
        let failed = |error: gantry_runtime::RequestError| vec![(first(), error.to_string())];
        let sources = self.objects.sources(pod).await.map_err(failed)?;
        let tokens = self.objects.tokens(pod).await.map_err(failed)?;
        let facts = self.pod_facts(pod);
        let inputs = PayloadInputs { pod, sources: &sources, tokens: &tokens, facts: &facts };
        let problems = self.files(uid).mount_all(inputs);
        self.pods.change(uid, |known| known.is_mounted = true);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Updates the volumes of a pod that show objects.
    pub(crate) async fn refresh_volumes(&self, pod: &core::Pod, uid: &str) {
        let facts = self.pod_facts(pod);
        let read = async {
            let sources = self.objects.sources(pod).await.map_err(|error| error.to_string())?;
            let tokens = self.objects.tokens(pod).await.map_err(|error| error.to_string())?;
            self.files(uid).refresh(PayloadInputs { pod, sources: &sources, tokens: &tokens, facts: &facts })
        };
        if let Err(problem) = read.await {
            tracing::debug!(uid, problem, "the volumes of a pod are not up to date");
        }
    }

    async fn stop_sandbox(&self, uid: &str) -> Option<RuntimeReport> {
        let sandbox = self.pods.get(uid)?.sandbox;
        if let Some(sandbox) = sandbox {
            self.until_done_or_gone(|| self.cri.stop_sandbox(&sandbox)).await;
        }
        self.pods.change(uid, |known| {
            known.sandbox = None;
            known.is_mounted = false;
        });
        if let Err(error) = self.files(uid).remove() {
            tracing::warn!(uid, %error, "cannot remove the volumes of a pod");
        }
        Some(RuntimeReport::SandboxStopped)
    }

    async fn pull(&self, pod: &core::Pod, image: &str) -> Result<PulledImage, String> {
        let began = Instant::now();
        let Ok(_permit) = self.pulls.acquire().await else { return Err("the agent ends".to_owned()) };
        let started = Instant::now();
        let secrets = self.objects.pull_secrets(pod).await.unwrap_or_default();
        let config = self.sandbox_config(pod, 0);
        let auths = credentials(image, secrets.iter());
        let auths: Vec<_> = if auths.is_empty() { vec![None] } else { auths.into_iter().map(Some).collect() };
        let mut result = Err(String::new());
        for auth in auths {
            result = self.cri.pull(image, auth, config.clone()).await.map_err(|error| error.to_string());
            if result.is_ok() {
                break;
            }
        }
        result?;
        let stored = self.cri.image(image).await.ok().flatten();
        let bytes = stored.map_or(0, |image| image.size);
        Ok(PulledImage { took: started.elapsed(), with_waiting: began.elapsed(), bytes })
    }

    /// Pulls the images that a container mounts as volumes, by their policies.
    async fn pull_volumes(&self, pod: &core::Pod, container: &core::Container) -> Result<(), String> {
        let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        let is_mounted = |volume: &&core::Volume| {
            container.volume_mounts.iter().flatten().any(|mount| mount.name == volume.name)
        };
        for image in volumes.filter(is_mounted).filter_map(|volume| volume.image.as_ref()) {
            let reference = image.reference.as_deref().unwrap_or_default();
            let is_present = self.cri.image(reference).await.map_err(|error| error.to_string())?.is_some();
            match image.pull_policy.as_deref() {
                Some("Never") if !is_present => {
                    return Err(format!(
                        "image volume {reference:?} is not present with pull policy of Never"
                    ));
                }
                Some("Never") => {}
                Some("IfNotPresent") if is_present => {}
                _ => drop(self.pull(pod, reference).await?),
            }
        }
        Ok(())
    }

    async fn start(
        &self,
        pod: &Arc<CachedPod>,
        uid: &str,
        name: &str,
        attempt: u32,
        amounts: &ContainerAmounts,
    ) -> Result<StartedContainer, StartFailure> {
        let configuration = |message: String| StartFailure { step: StartStep::Configuration, message };
        let create =
            |error: RuntimeError| StartFailure { step: StartStep::Create, message: error.to_string() };
        let object = &pod.wire;
        let mut container = container_named(object, name)
            .ok_or_else(|| configuration(format!("the pod has no container {name}")))?;
        container.resources = Some(amounts.render());
        let known = self.pods.get(uid).unwrap_or_default();
        let sandbox =
            known.sandbox.clone().ok_or_else(|| configuration("the pod has no sandbox".to_owned()))?;
        let image = container.image.clone().unwrap_or_default();
        let stored = self.cri.image(&image).await.map_err(create)?;
        if let Some(problem) = root_problem(object, &container, stored.as_ref()) {
            return Err(configuration(problem));
        }
        self.pull_volumes(object, &container).await.map_err(configuration)?;
        let environment = self.environment(object, &container).await.map_err(configuration)?;
        let variables: BTreeMap<String, String> = environment.iter().cloned().collect();
        let mounts =
            self.files(uid).mounts(object, &container, attempt, &variables).map_err(configuration)?;
        let inputs = ContainerInputs {
            attempt,
            owner: self.settings.owner.clone(),
            environment,
            mounts,
            image_ref: stored.map_or(image, |image| image.id),
            memory: self.facts.machine.memory,
            target: target_of(object, name).and_then(|target| known.containers.get(target).cloned()),
        };
        let config = container_config(object, &container, inputs);
        let logs = PathBuf::from(log_directory(object, &self.settings.logs)).join(name);
        std::fs::create_dir_all(logs).map_err(|error| configuration(error.to_string()))?;
        let of_sandbox = self.sandbox_config(object, 0);
        let id = self.cri.create_container(&sandbox, config, of_sandbox).await.map_err(create)?;
        self.pods.change(uid, |known| {
            known.containers.insert(name.to_owned(), id.clone());
            known.amounts.insert(name.to_owned(), amounts.clone());
        });
        let started = self.cri.start_container(&id).await;
        let status = self.cri.container_status(&id).await.map_err(create)?;
        let identity = runtime_pods::identity(&status, &self.runtime_name);
        let exit = |status: &wire::ContainerStatus| self.exit(object, uid, &container, status);
        if let Err(error) = started {
            let step = StartStep::Start(identity, exit(&status));
            return Err(StartFailure { step, message: error.message().to_owned() });
        }
        if let Some(hook) = container.lifecycle.as_ref().and_then(|lifecycle| lifecycle.post_start.as_ref()) {
            let pod_ip = self.pod_ip(object);
            let target = ProbeTarget { runtime: &self.cri, id: &id, container: &container, pod_ip: &pod_ip };
            if let Err(why) = target.hook(hook, POST_START_MAX).await {
                let message = hook_message(object, name, hook, &why);
                let _ = self.cri.stop_container(&id, GRACE_MIN).await;
                let status = self.cri.container_status(&id).await.unwrap_or(status);
                return Err(StartFailure {
                    step: StartStep::PostStartHook(identity, exit(&status)),
                    message,
                });
            }
        }
        Ok(StartedContainer { identity, since: Timestamp::from_nanos(status.started_at) })
    }

    /// Changes the limits of a container's cgroup, and of its pod's: a container is never allowed more than its pod.
    async fn resize(
        &self,
        pod: &core::Pod,
        uid: &str,
        name: &str,
        id: &str,
        amounts: &ContainerAmounts,
    ) -> Result<(), String> {
        let container =
            container_named(pod, name).ok_or_else(|| format!("the pod has no container {name}"))?;
        let container = core::Container { resources: Some(amounts.render()), ..container };
        let spec = pod.spec.clone().unwrap_or_default();
        let resources = container_resources(&container, &spec, self.facts.machine.memory);
        let before = self.pod_limits(pod, uid);
        self.pods.change(uid, |known| {
            known.amounts.insert(name.to_owned(), amounts.clone());
        });
        let after = self.pod_limits(pod, uid);
        self.change_cgroup(pod, uid, before.widest(after)).map_err(|error| error.to_string())?;
        let id = self.bare_id(id);
        self.cri
            .update_container(id, changed_resources(resources))
            .await
            .map_err(|error| error.to_string())?;
        self.change_cgroup(pod, uid, after).map_err(|error| error.to_string())
    }

    /// Returns the ID of a container without the name of the runtime.
    fn bare_id<'a>(&self, id: &'a str) -> &'a str {
        id.strip_prefix(&self.runtime_name).and_then(|id| id.strip_prefix("://")).unwrap_or(id)
    }

    async fn environment(
        &self,
        pod: &core::Pod,
        container: &core::Container,
    ) -> Result<Vec<(String, String)>, String> {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let links = pod.spec.as_ref().is_none_or(|spec| spec.enable_service_links != Some(false));
        let services = {
            let services = self.services.read();
            service_variables(services.iter().map(|service| &*service.wire), namespace, links)
        };
        let sources = self.objects.sources(pod).await.map_err(|error| error.to_string())?;
        environment(pod, container, &services, &sources, &self.pod_facts(pod))
    }

    /// Stops a container: runs its hook, sends its signal, and in the end kills it.
    async fn stop(
        &self,
        pod: &Arc<CachedPod>,
        uid: &str,
        name: String,
        grace: Duration,
    ) -> Option<RuntimeReport> {
        let began = Instant::now();
        let id = self.pods.get(uid)?.containers.get(&name)?.clone();
        let container = container_named(&pod.wire, &name)?;
        if let (Some(proxy), Some(_)) = (&self.proxy, &pod.wire.metadata.deletion_timestamp) {
            // Otherwise a pod that ends at once would receive connections until its endpoint is removed.
            let _ = tokio::time::timeout(grace.min(REROUTE_MAX), proxy.routed_away_from(uid)).await;
        }
        let hook = container.lifecycle.as_ref().and_then(|lifecycle| lifecycle.pre_stop.as_ref());
        if let Some(hook) = hook.filter(|_| !grace.is_zero()) {
            let pod_ip = self.pod_ip(&pod.wire);
            let target = ProbeTarget { runtime: &self.cri, id: &id, container: &container, pod_ip: &pod_ip };
            let run = tokio::time::timeout(grace, target.hook(hook, grace));
            if !matches!(run.await, Ok(Ok(()))) {
                self.record_event(pod, Event::warning("FailedPreStopHook", "PreStopHook failed".to_owned()));
            }
        }
        let left = grace.saturating_sub(began.elapsed());
        let left = if grace.is_zero() { left } else { left.max(GRACE_MIN) };
        self.until_done_or_gone(|| self.cri.stop_container(&id, left)).await;
        let exit = match self.cri.container_status(&id).await {
            Ok(status) => self.exit(&pod.wire, uid, &container, &status)?,
            Err(_) => ContainerExit::unknown(format!("{}://{id}", self.runtime_name), self.clock.now()),
        };
        Some(RuntimeReport::Exited { container: name, exit })
    }

    async fn probe(
        &self,
        pod: &core::Pod,
        name: &str,
        kind: ContainerProbe,
        id: &str,
    ) -> Option<gantry_nodes::pod_lifecycle::ProbeResult> {
        let container = container_named(pod, name)?;
        let probe = match kind {
            ContainerProbe::Startup => container.startup_probe.as_ref(),
            ContainerProbe::Readiness => container.readiness_probe.as_ref(),
            ContainerProbe::Liveness => container.liveness_probe.as_ref(),
        }?;
        let pod_ip = self.pod_ip(pod);
        let id = self.bare_id(id);
        let target = ProbeTarget { runtime: &self.cri, id, container: &container, pod_ip: &pod_ip };
        Some(target.probe(probe).await)
    }

    /// Returns the exit of a container, with its termination message.
    pub(crate) fn exit(
        &self,
        pod: &core::Pod,
        uid: &str,
        container: &core::Container,
        status: &wire::ContainerStatus,
    ) -> Option<ContainerExit> {
        let attempt = status.metadata.as_ref().map_or(0, |metadata| metadata.attempt);
        runtime_pods::exit(status, &self.runtime_name, || {
            let file = self.files(uid).termination_message(&container.name, attempt);
            let falls_back = container.termination_message_policy.as_deref() == Some("FallbackToLogsOnError");
            let directory = PathBuf::from(log_directory(pod, &self.settings.logs));
            let log = directory.join(&container.name).join(format!("{attempt}.log"));
            let log = Some(log.as_path()).filter(|_| falls_back && status.exit_code != 0);
            termination::message(&file, log)
        })
    }

    fn pod_ip(&self, pod: &core::Pod) -> String {
        self.pod_facts(pod).pod_ips.into_iter().next().unwrap_or_default()
    }

    /// Repeats a call until it succeeds or its object is deleted, because nothing can continue without it.
    async fn until_done_or_gone<F>(&self, mut call: impl FnMut() -> F)
    where
        F: Future<Output = Result<(), RuntimeError>>,
    {
        let mut delay = Duration::from_millis(200);
        while let Err(error) = call().await
            && !error.is_not_found()
        {
            tracing::warn!(%error, "a call of the container runtime failed, retrying");
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(Duration::from_secs(10));
        }
    }
}

/// Returns a kubelet's message about a failed hook.
fn hook_message(pod: &core::Pod, container: &str, hook: &core::LifecycleHandler, why: &str) -> String {
    let meta = &pod.metadata;
    let [name, namespace, uid] =
        [&meta.name, &meta.namespace, &meta.uid].map(|part| part.as_deref().unwrap_or_default());
    let of =
        format!("for Container {container:?} in Pod \"{name}_{namespace}({uid})\" failed - error: {why}");
    match (&hook.exec, &hook.http_get) {
        (Some(exec), _) => {
            let command = exec.command.as_deref().unwrap_or_default().join(" ");
            format!("Exec lifecycle hook ([{command}]) {of}, message: \"\"")
        }
        (None, Some(get)) => {
            format!("HTTP lifecycle hook ({}) {of}", get.path.as_deref().unwrap_or_default())
        }
        (None, None) => format!("Sleep lifecycle hook {of}"),
    }
}

fn image_of(pod: &core::Pod, container: &str) -> String {
    container_named(pod, container).and_then(|container| container.image).unwrap_or_default()
}

/// Returns the name of the container whose processes an ephemeral container shares.
fn target_of<'a>(pod: &'a core::Pod, name: &str) -> Option<&'a str> {
    let mut ephemeral = pod.spec.as_ref()?.ephemeral_containers.iter().flatten();
    ephemeral
        .find(|container| container.name == name)?
        .target_container_name
        .as_deref()
        .filter(|it| !it.is_empty())
}
