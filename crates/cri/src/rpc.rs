//! The methods, and the errors of calls.

use std::fmt;

use gantry_grpc::Method;
use tonic::{Code, Status};

use crate::wire;

macro_rules! methods {
    ($($name:ident: $path:literal, $request:ident -> $response:ident;)*) => {
        $(pub(crate) static $name: Method<wire::$request, wire::$response> =
            Method::new(concat!("/runtime.v1.", $path));)*
    };
}

methods! {
    VERSION: "RuntimeService/Version", VersionRequest -> VersionResponse;
    STATUS: "RuntimeService/Status", StatusRequest -> StatusResponse;
    RUN_SANDBOX: "RuntimeService/RunPodSandbox", RunPodSandboxRequest -> RunPodSandboxResponse;
    STOP_SANDBOX: "RuntimeService/StopPodSandbox", StopPodSandboxRequest -> StopPodSandboxResponse;
    REMOVE_SANDBOX: "RuntimeService/RemovePodSandbox", RemovePodSandboxRequest -> RemovePodSandboxResponse;
    SANDBOX_STATUS: "RuntimeService/PodSandboxStatus", PodSandboxStatusRequest -> PodSandboxStatusResponse;
    LIST_SANDBOXES: "RuntimeService/ListPodSandbox", ListPodSandboxRequest -> ListPodSandboxResponse;
    CREATE_CONTAINER: "RuntimeService/CreateContainer", CreateContainerRequest -> CreateContainerResponse;
    START_CONTAINER: "RuntimeService/StartContainer", StartContainerRequest -> StartContainerResponse;
    STOP_CONTAINER: "RuntimeService/StopContainer", StopContainerRequest -> StopContainerResponse;
    REMOVE_CONTAINER: "RuntimeService/RemoveContainer", RemoveContainerRequest -> RemoveContainerResponse;
    LIST_CONTAINERS: "RuntimeService/ListContainers", ListContainersRequest -> ListContainersResponse;
    CONTAINER_STATUS: "RuntimeService/ContainerStatus", ContainerStatusRequest -> ContainerStatusResponse;
    UPDATE_CONTAINER: "RuntimeService/UpdateContainerResources", UpdateContainerResourcesRequest -> UpdateContainerResourcesResponse;
    REOPEN_LOG: "RuntimeService/ReopenContainerLog", ReopenContainerLogRequest -> ReopenContainerLogResponse;
    EXEC_SYNC: "RuntimeService/ExecSync", ExecSyncRequest -> ExecSyncResponse;
    EXEC: "RuntimeService/Exec", ExecRequest -> ExecResponse;
    ATTACH: "RuntimeService/Attach", AttachRequest -> AttachResponse;
    PORT_FORWARD: "RuntimeService/PortForward", PortForwardRequest -> PortForwardResponse;
    LIST_CONTAINER_STATS: "RuntimeService/ListContainerStats", ListContainerStatsRequest -> ListContainerStatsResponse;
    LIST_SANDBOX_STATS: "RuntimeService/ListPodSandboxStats", ListPodSandboxStatsRequest -> ListPodSandboxStatsResponse;
    LIST_IMAGES: "ImageService/ListImages", ListImagesRequest -> ListImagesResponse;
    IMAGE_STATUS: "ImageService/ImageStatus", ImageStatusRequest -> ImageStatusResponse;
    PULL_IMAGE: "ImageService/PullImage", PullImageRequest -> PullImageResponse;
    REMOVE_IMAGE: "ImageService/RemoveImage", RemoveImageRequest -> RemoveImageResponse;
    IMAGE_FS_INFO: "ImageService/ImageFsInfo", ImageFsInfoRequest -> ImageFsInfoResponse;
    RUNTIME_CONFIG: "RuntimeService/RuntimeConfig", RuntimeConfigRequest -> RuntimeConfigResponse;
}

/// The error of a failed call.
#[derive(Clone, Debug)]
pub struct RuntimeError {
    code: Code,
    message: String,
}

impl RuntimeError {
    /// Whether the runtime does not have the object.
    pub fn is_not_found(&self) -> bool {
        self.code == Code::NotFound
    }

    /// Whether the runtime could not be reached or did not respond in time.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.code, Code::Unavailable | Code::DeadlineExceeded)
    }

    /// Whether the runtime does not have this method.
    pub fn is_unimplemented(&self) -> bool {
        self.code == Code::Unimplemented
    }

    /// The runtime's message, without the code.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rpc error: code = {:?} desc = {}", self.code, self.message)
    }
}

impl std::error::Error for RuntimeError {}

impl From<Status> for RuntimeError {
    fn from(status: Status) -> Self {
        Self { code: status.code(), message: status.message().to_owned() }
    }
}
