//! The messages about containers.
#![expect(missing_docs, reason = "names and meanings are those of the protocol")]

use gantry_grpc::messages;

use super::image::ImageSpec;
use super::sandbox::{
    Int64Value, NamespaceOption, PodSandboxConfig, SecurityProfile, SelinuxOption, SupplementalGroupsPolicy,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum RuntimeContainerState {
    Created = 0,
    Running = 1,
    Exited = 2,
    Unknown = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum MountPropagation {
    Private = 0,
    HostToContainer = 1,
    Bidirectional = 2,
}

messages! {
    pub LinuxContainerResources {
        int64 cpu_period = 1;
        int64 cpu_quota = 2;
        int64 cpu_shares = 3;
        int64 memory_limit_in_bytes = 4;
        int64 oom_score_adj = 5;
        string cpuset_cpus = 6;
        string cpuset_mems = 7;
        int64 memory_swap_limit_in_bytes = 10;
    }

    pub ContainerMetadata {
        string name = 1;
        uint32 attempt = 2;
    }

    pub KeyValue {
        string key = 1;
        bytes value = 2;
    }

    pub Mount {
        string container_path = 1;
        string host_path = 2;
        bool readonly = 3;
        bool selinux_relabel = 4;
        enum MountPropagation propagation = 5;
        message ImageSpec image = 9;
        string image_sub_path = 10;
    }

    pub Device {
        string container_path = 1;
        string host_path = 2;
        string permissions = 3;
    }

    pub Capability {
        repeated string add_capabilities = 1;
        repeated string drop_capabilities = 2;
    }

    pub LinuxContainerSecurityContext {
        message Capability capabilities = 1;
        bool privileged = 2;
        message NamespaceOption namespace_options = 3;
        message SelinuxOption selinux_options = 4;
        message Int64Value run_as_user = 5;
        string run_as_username = 6;
        bool readonly_rootfs = 7;
        repeated int64 supplemental_groups = 8;
        bool no_new_privs = 11;
        message Int64Value run_as_group = 12;
        repeated string masked_paths = 13;
        repeated string readonly_paths = 14;
        message SecurityProfile seccomp = 15;
        message SecurityProfile apparmor = 16;
        enum SupplementalGroupsPolicy supplemental_groups_policy = 17;
    }

    pub LinuxContainerConfig {
        message LinuxContainerResources resources = 1;
        message LinuxContainerSecurityContext security_context = 2;
    }

    pub ContainerConfig {
        message ContainerMetadata metadata = 1;
        message ImageSpec image = 2;
        repeated string command = 3;
        repeated string args = 4;
        string working_dir = 5;
        repeated message KeyValue envs = 6;
        repeated message Mount mounts = 7;
        repeated message Device devices = 8;
        map labels = 9;
        map annotations = 10;
        string log_path = 11;
        bool stdin = 12;
        bool stdin_once = 13;
        bool tty = 14;
        message LinuxContainerConfig linux = 15;
    }

    pub CreateContainerRequest {
        string pod_sandbox_id = 1;
        message ContainerConfig config = 2;
        message PodSandboxConfig sandbox_config = 3;
    }

    pub CreateContainerResponse {
        string container_id = 1;
    }

    pub StartContainerRequest {
        string container_id = 1;
    }

    pub StartContainerResponse {}

    pub StopContainerRequest {
        string container_id = 1;
        int64 timeout = 2;
    }

    pub StopContainerResponse {}

    pub RemoveContainerRequest {
        string container_id = 1;
    }

    pub RemoveContainerResponse {}

    pub ContainerStateValue {
        enum RuntimeContainerState state = 1;
    }

    pub ContainerFilter {
        string id = 1;
        message ContainerStateValue state = 2;
        string pod_sandbox_id = 3;
        map label_selector = 4;
    }

    pub ListContainersRequest {
        message ContainerFilter filter = 1;
    }

    pub RuntimeContainer {
        string id = 1;
        string pod_sandbox_id = 2;
        message ContainerMetadata metadata = 3;
        message ImageSpec image = 4;
        string image_ref = 5;
        enum RuntimeContainerState state = 6;
        int64 created_at = 7;
        map labels = 8;
        map annotations = 9;
        string image_id = 10;
    }

    pub ListContainersResponse {
        repeated message RuntimeContainer containers = 1;
    }

    pub ContainerStatusRequest {
        string container_id = 1;
        bool verbose = 2;
    }

    pub ContainerResources {
        message LinuxContainerResources linux = 1;
    }

    pub LinuxContainerUser {
        int64 uid = 1;
        int64 gid = 2;
        repeated int64 supplemental_groups = 3;
    }

    pub ContainerUser {
        message LinuxContainerUser linux = 1;
    }

    pub ContainerStatus {
        string id = 1;
        message ContainerMetadata metadata = 2;
        enum RuntimeContainerState state = 3;
        int64 created_at = 4;
        int64 started_at = 5;
        int64 finished_at = 6;
        int32 exit_code = 7;
        message ImageSpec image = 8;
        string image_ref = 9;
        string reason = 10;
        string message = 11;
        map labels = 12;
        map annotations = 13;
        repeated message Mount mounts = 14;
        string log_path = 15;
        message ContainerResources resources = 16;
        string image_id = 17;
        message ContainerUser user = 18;
    }

    pub ContainerStatusResponse {
        message ContainerStatus status = 1;
        map info = 2;
    }

    pub ExecSyncRequest {
        string container_id = 1;
        repeated string cmd = 2;
        int64 timeout = 3;
    }

    pub ExecSyncResponse {
        bytes stdout = 1;
        bytes stderr = 2;
        int32 exit_code = 3;
    }

    pub ExecRequest {
        string container_id = 1;
        repeated string cmd = 2;
        bool tty = 3;
        bool stdin = 4;
        bool stdout = 5;
        bool stderr = 6;
    }

    pub ExecResponse {
        string url = 1;
    }

    pub AttachRequest {
        string container_id = 1;
        bool stdin = 2;
        bool tty = 3;
        bool stdout = 4;
        bool stderr = 5;
    }

    pub AttachResponse {
        string url = 1;
    }

    pub PortForwardRequest {
        string pod_sandbox_id = 1;
        repeated int32 port = 2;
    }

    pub PortForwardResponse {
        string url = 1;
    }

    pub UInt64Value {
        uint64 value = 1;
    }

    pub ReopenContainerLogRequest {
        string container_id = 1;
    }

    pub ReopenContainerLogResponse {}

    pub UpdateContainerResourcesRequest {
        string container_id = 1;
        message LinuxContainerResources linux = 2;
    }

    pub UpdateContainerResourcesResponse {}
}
