//! The methods of a container runtime.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gantry_grpc::Method;
use gantry_json::Value;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::Request;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::rpc::{self, RuntimeError};
use crate::wire;

/// The timeout of a call that does not wait for something else, as with a kubelet.
const CALL_MAX: Duration = Duration::from_mins(2);
/// The timeout for creating a sandbox, which includes its network.
const SANDBOX_MAX: Duration = Duration::from_mins(4);

/// A container runtime behind a socket. Clones share the connection, which is re-established when it breaks.
#[derive(Clone, Debug)]
pub struct Runtime {
    channel: Channel,
}

impl Runtime {
    /// Returns the runtime behind this socket, without connecting yet.
    ///
    /// Must be called within a tokio runtime.
    pub fn at(socket: &Path) -> Self {
        let socket: PathBuf = socket.to_owned();
        let connect = tower::service_fn(move |_: Uri| {
            let socket = socket.clone();
            async move { UnixStream::connect(socket).await.map(TokioIo::new) }
        });
        // The address is not used, because the connector knows the socket.
        let endpoint = Endpoint::from_static("http://runtime.invalid");
        Self { channel: endpoint.connect_with_connector_lazy(connect) }
    }

    /// Returns the name and the version of the runtime.
    pub async fn version(&self) -> Result<wire::VersionResponse, RuntimeError> {
        self.call(&rpc::VERSION, wire::VersionRequest { version: "0.1.0".to_owned() }).await
    }

    /// Returns the conditions of the runtime: `RuntimeReady` and `NetworkReady`.
    pub async fn conditions(&self) -> Result<Vec<wire::RuntimeCondition>, RuntimeError> {
        let response = self.call(&rpc::STATUS, wire::StatusRequest::default()).await?;
        Ok(response.status.unwrap_or_default().conditions)
    }

    /// Returns the cgroup driver that the runtime is configured with; `None` if it does not report one.
    pub async fn cgroup_driver(&self) -> Result<Option<wire::CgroupDriver>, RuntimeError> {
        match self.call(&rpc::RUNTIME_CONFIG, wire::RuntimeConfigRequest {}).await {
            Ok(response) => Ok(response.linux.map(|linux| linux.cgroup_driver())),
            Err(error) if error.is_unimplemented() => {
                let request = wire::StatusRequest { verbose: true };
                let info = self.call(&rpc::STATUS, request).await?.info;
                Ok(info.get("config").and_then(|config| driver_of_config(config)))
            }
            Err(error) => Err(error),
        }
    }

    /// Creates and starts a sandbox; returns its ID.
    pub async fn run_sandbox(
        &self,
        config: wire::PodSandboxConfig,
        handler: String,
    ) -> Result<String, RuntimeError> {
        let request = wire::RunPodSandboxRequest { config: Some(config), runtime_handler: handler };
        let response = self.call_within(Some(SANDBOX_MAX), &rpc::RUN_SANDBOX, request).await?;
        Ok(response.pod_sandbox_id)
    }

    /// Stops a sandbox with all its containers, and releases its network.
    pub async fn stop_sandbox(&self, id: &str) -> Result<(), RuntimeError> {
        let request = wire::StopPodSandboxRequest { pod_sandbox_id: id.to_owned() };
        self.call_within(Some(SANDBOX_MAX), &rpc::STOP_SANDBOX, request).await.map(drop)
    }

    /// Removes a sandbox with all its containers.
    pub async fn remove_sandbox(&self, id: &str) -> Result<(), RuntimeError> {
        let request = wire::RemovePodSandboxRequest { pod_sandbox_id: id.to_owned() };
        self.call(&rpc::REMOVE_SANDBOX, request).await.map(drop)
    }

    /// Returns the status of a sandbox.
    pub async fn sandbox_status(&self, id: &str) -> Result<wire::PodSandboxStatus, RuntimeError> {
        let request = wire::PodSandboxStatusRequest { pod_sandbox_id: id.to_owned(), verbose: false };
        Ok(self.call(&rpc::SANDBOX_STATUS, request).await?.status.unwrap_or_default())
    }

    /// Lists all sandboxes.
    pub async fn sandboxes(&self) -> Result<Vec<wire::PodSandbox>, RuntimeError> {
        Ok(self.call(&rpc::LIST_SANDBOXES, wire::ListPodSandboxRequest::default()).await?.items)
    }

    /// Creates a container in a sandbox; returns its ID.
    pub async fn create_container(
        &self,
        sandbox: &str,
        config: wire::ContainerConfig,
        sandbox_config: wire::PodSandboxConfig,
    ) -> Result<String, RuntimeError> {
        let request = wire::CreateContainerRequest {
            pod_sandbox_id: sandbox.to_owned(),
            config: Some(config),
            sandbox_config: Some(sandbox_config),
        };
        Ok(self.call(&rpc::CREATE_CONTAINER, request).await?.container_id)
    }

    /// Starts a container.
    pub async fn start_container(&self, id: &str) -> Result<(), RuntimeError> {
        let request = wire::StartContainerRequest { container_id: id.to_owned() };
        self.call(&rpc::START_CONTAINER, request).await.map(drop)
    }

    /// Stops a container: signals it, and kills it after the grace period.
    pub async fn stop_container(&self, id: &str, grace: Duration) -> Result<(), RuntimeError> {
        let timeout = i64::try_from(grace.as_secs()).unwrap_or(i64::MAX);
        let request = wire::StopContainerRequest { container_id: id.to_owned(), timeout };
        let within = grace.saturating_add(CALL_MAX);
        self.call_within(Some(within), &rpc::STOP_CONTAINER, request).await.map(drop)
    }

    /// Changes the limits of a running container; those that are zero are not changed.
    pub async fn update_container(
        &self,
        id: &str,
        resources: wire::LinuxContainerResources,
    ) -> Result<(), RuntimeError> {
        let request =
            wire::UpdateContainerResourcesRequest { container_id: id.to_owned(), linux: Some(resources) };
        self.call(&rpc::UPDATE_CONTAINER, request).await.map(drop)
    }

    /// Removes a container.
    pub async fn remove_container(&self, id: &str) -> Result<(), RuntimeError> {
        let request = wire::RemoveContainerRequest { container_id: id.to_owned() };
        self.call(&rpc::REMOVE_CONTAINER, request).await.map(drop)
    }

    /// Lists all containers.
    pub async fn containers(&self) -> Result<Vec<wire::RuntimeContainer>, RuntimeError> {
        Ok(self.call(&rpc::LIST_CONTAINERS, wire::ListContainersRequest::default()).await?.containers)
    }

    /// Returns the status of a container.
    pub async fn container_status(&self, id: &str) -> Result<wire::ContainerStatus, RuntimeError> {
        let request = wire::ContainerStatusRequest { container_id: id.to_owned(), verbose: false };
        Ok(self.call(&rpc::CONTAINER_STATUS, request).await?.status.unwrap_or_default())
    }

    /// Makes the runtime open the log of a container again, after it was rotated.
    pub async fn reopen_log(&self, id: &str) -> Result<(), RuntimeError> {
        let request = wire::ReopenContainerLogRequest { container_id: id.to_owned() };
        self.call(&rpc::REOPEN_LOG, request).await.map(drop)
    }

    /// Runs a command in a container and returns its output.
    pub async fn exec_sync(
        &self,
        id: &str,
        command: Vec<String>,
        timeout: Duration,
    ) -> Result<wire::ExecSyncResponse, RuntimeError> {
        let seconds = i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX);
        let request = wire::ExecSyncRequest { container_id: id.to_owned(), cmd: command, timeout: seconds };
        // A little later than the runtime's own timeout.
        let within = (!timeout.is_zero()).then(|| timeout.saturating_add(Duration::from_secs(5)));
        self.call_within(within, &rpc::EXEC_SYNC, request).await
    }

    /// Returns the URL at which the runtime serves a command in a container.
    pub async fn exec_url(&self, request: wire::ExecRequest) -> Result<String, RuntimeError> {
        Ok(self.call(&rpc::EXEC, request).await?.url)
    }

    /// Returns the URL at which the runtime serves the streams of a container.
    pub async fn attach_url(&self, request: wire::AttachRequest) -> Result<String, RuntimeError> {
        Ok(self.call(&rpc::ATTACH, request).await?.url)
    }

    /// Returns the URL at which the runtime forwards connections to a sandbox.
    pub async fn port_forward_url(&self, sandbox: &str, ports: Vec<i32>) -> Result<String, RuntimeError> {
        let request = wire::PortForwardRequest { pod_sandbox_id: sandbox.to_owned(), port: ports };
        Ok(self.call(&rpc::PORT_FORWARD, request).await?.url)
    }

    /// Returns the resource usage of all containers.
    pub async fn container_stats(&self) -> Result<Vec<wire::ContainerStats>, RuntimeError> {
        Ok(self.call(&rpc::LIST_CONTAINER_STATS, wire::ListContainerStatsRequest {}).await?.stats)
    }

    /// Returns the resource usage of all sandboxes.
    pub async fn sandbox_stats(&self) -> Result<Vec<wire::PodSandboxStats>, RuntimeError> {
        Ok(self.call(&rpc::LIST_SANDBOX_STATS, wire::ListPodSandboxStatsRequest {}).await?.stats)
    }

    /// Lists the images on the node.
    pub async fn images(&self) -> Result<Vec<wire::Image>, RuntimeError> {
        Ok(self.call(&rpc::LIST_IMAGES, wire::ListImagesRequest::default()).await?.images)
    }

    /// Returns an image; `None` if it is not on the node.
    pub async fn image(&self, name: &str) -> Result<Option<wire::Image>, RuntimeError> {
        let image = Some(wire::ImageSpec { image: name.to_owned(), ..wire::ImageSpec::default() });
        let request = wire::ImageStatusRequest { image, verbose: false };
        Ok(self.call(&rpc::IMAGE_STATUS, request).await?.image)
    }

    /// Pulls an image, however long it takes; returns its reference.
    pub async fn pull(
        &self,
        name: &str,
        auth: Option<wire::AuthConfig>,
        sandbox_config: wire::PodSandboxConfig,
    ) -> Result<String, RuntimeError> {
        let image = Some(wire::ImageSpec { image: name.to_owned(), ..wire::ImageSpec::default() });
        let request = wire::PullImageRequest { image, auth, sandbox_config: Some(sandbox_config) };
        Ok(self.call_within(None, &rpc::PULL_IMAGE, request).await?.image_ref)
    }

    /// Removes an image.
    pub async fn remove_image(&self, id: &str) -> Result<(), RuntimeError> {
        let image = Some(wire::ImageSpec { image: id.to_owned(), ..wire::ImageSpec::default() });
        self.call(&rpc::REMOVE_IMAGE, wire::RemoveImageRequest { image }).await.map(drop)
    }

    /// Returns the mount points of the file systems that hold images.
    pub async fn image_file_systems(&self) -> Result<Vec<String>, RuntimeError> {
        let response = self.call(&rpc::IMAGE_FS_INFO, wire::ImageFsInfoRequest {}).await?;
        let mount_point = |usage: wire::FilesystemUsage| usage.fs_id.map(|id| id.mountpoint);
        Ok(response.image_filesystems.into_iter().filter_map(mount_point).collect())
    }

    async fn call<Q, A>(&self, method: &Method<Q, A>, request: Q) -> Result<A, RuntimeError> {
        self.call_within(Some(CALL_MAX), method, request).await
    }

    /// Calls a method. There is no timeout if `within` is `None`.
    async fn call_within<Q, A>(
        &self,
        within: Option<Duration>,
        method: &Method<Q, A>,
        request: Q,
    ) -> Result<A, RuntimeError> {
        Ok(gantry_grpc::unary(self.channel.clone(), method, Request::new(request), within).await?)
    }
}

/// Returns the cgroup driver in the configuration that containerd before 2.0 reports: that of its default runtime.
fn driver_of_config(config: &str) -> Option<wire::CgroupDriver> {
    let config: Value = gantry_json::from_str(config).ok()?;
    let containerd = &config["containerd"];
    let runtime = &containerd["runtimes"][containerd["defaultRuntimeName"].as_str()?];
    let is_systemd = runtime["options"]["SystemdCgroup"].as_bool() == Some(true);
    Some(if is_systemd { wire::CgroupDriver::Systemd } else { wire::CgroupDriver::Cgroupfs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_of_cgroups_is_that_of_the_default_runtime() {
        let config = |options: &str| {
            format!(
                r#"{{"containerd":{{"defaultRuntimeName":"runc","runtimes":{{"runc":{{"options":{options}}}}}}}}}"#
            )
        };
        assert_eq!(driver_of_config(&config("null")), Some(wire::CgroupDriver::Cgroupfs));
        assert_eq!(driver_of_config(&config(r#"{"SystemdCgroup":true}"#)), Some(wire::CgroupDriver::Systemd));
        assert_eq!(driver_of_config("{}"), None);
    }
}
