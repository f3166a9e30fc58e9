//! The messages about the runtime and about sandboxes.
#![expect(missing_docs, reason = "names and meanings are those of the protocol")]

use gantry_grpc::messages;

use super::container::LinuxContainerResources;

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum CgroupDriver {
    Systemd = 0,
    Cgroupfs = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum NamespaceMode {
    Pod = 0,
    Container = 1,
    Node = 2,
    Target = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum PodSandboxState {
    Ready = 0,
    NotReady = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ProfileType {
    RuntimeDefault = 0,
    Unconfined = 1,
    Localhost = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum Protocol {
    Tcp = 0,
    Udp = 1,
    Sctp = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum SupplementalGroupsPolicy {
    Merge = 0,
    Strict = 1,
}

messages! {
    pub VersionRequest {
        string version = 1;
    }

    pub VersionResponse {
        string version = 1;
        string runtime_name = 2;
        string runtime_version = 3;
        string runtime_api_version = 4;
    }

    pub StatusRequest {
        bool verbose = 1;
    }

    pub RuntimeCondition {
        string kind = 1;
        bool status = 2;
        string reason = 3;
        string message = 4;
    }

    pub RuntimeStatus {
        repeated message RuntimeCondition conditions = 1;
    }

    pub StatusResponse {
        message RuntimeStatus status = 1;
        map info = 2;
    }

    pub PodSandboxMetadata {
        string name = 1;
        string uid = 2;
        string namespace = 3;
        uint32 attempt = 4;
    }

    pub DnsConfig {
        repeated string servers = 1;
        repeated string searches = 2;
        repeated string options = 3;
    }

    pub PortMapping {
        enum Protocol protocol = 1;
        int32 container_port = 2;
        int32 host_port = 3;
        string host_ip = 4;
    }

    pub NamespaceOption {
        enum NamespaceMode network = 1;
        enum NamespaceMode pid = 2;
        enum NamespaceMode ipc = 3;
        string target_id = 4;
    }

    pub SelinuxOption {
        string user = 1;
        string role = 2;
        string kind = 3;
        string level = 4;
    }

    pub Int64Value {
        int64 value = 1;
    }

    pub SecurityProfile {
        enum ProfileType profile_type = 1;
        string localhost_ref = 2;
    }

    pub LinuxSandboxSecurityContext {
        message NamespaceOption namespace_options = 1;
        message SelinuxOption selinux_options = 2;
        message Int64Value run_as_user = 3;
        bool readonly_rootfs = 4;
        repeated int64 supplemental_groups = 5;
        bool privileged = 6;
        message Int64Value run_as_group = 8;
        message SecurityProfile seccomp = 9;
        message SecurityProfile apparmor = 10;
        enum SupplementalGroupsPolicy supplemental_groups_policy = 11;
    }

    pub LinuxPodSandboxConfig {
        string cgroup_parent = 1;
        message LinuxSandboxSecurityContext security_context = 2;
        map sysctls = 3;
        message LinuxContainerResources resources = 5;
    }

    pub PodSandboxConfig {
        message PodSandboxMetadata metadata = 1;
        string hostname = 2;
        string log_directory = 3;
        message DnsConfig dns_config = 4;
        repeated message PortMapping port_mappings = 5;
        map labels = 6;
        map annotations = 7;
        message LinuxPodSandboxConfig linux = 8;
    }

    pub RunPodSandboxRequest {
        message PodSandboxConfig config = 1;
        string runtime_handler = 2;
    }

    pub RunPodSandboxResponse {
        string pod_sandbox_id = 1;
    }

    pub StopPodSandboxRequest {
        string pod_sandbox_id = 1;
    }

    pub StopPodSandboxResponse {}

    pub RemovePodSandboxRequest {
        string pod_sandbox_id = 1;
    }

    pub RemovePodSandboxResponse {}

    pub PodSandboxStatusRequest {
        string pod_sandbox_id = 1;
        bool verbose = 2;
    }

    pub PodIP {
        string ip = 1;
    }

    pub PodSandboxNetworkStatus {
        string ip = 1;
        repeated message PodIP additional_ips = 2;
    }

    pub Namespace {
        message NamespaceOption options = 2;
    }

    pub LinuxPodSandboxStatus {
        message Namespace namespaces = 1;
    }

    pub PodSandboxStatus {
        string id = 1;
        message PodSandboxMetadata metadata = 2;
        enum PodSandboxState state = 3;
        int64 created_at = 4;
        message PodSandboxNetworkStatus network = 5;
        message LinuxPodSandboxStatus linux = 6;
        map labels = 7;
        map annotations = 8;
        string runtime_handler = 9;
    }
}

impl PodSandboxStatus {
    /// The addresses of the sandbox, the primary one first.
    pub fn ips(self) -> Vec<String> {
        let network = self.network.unwrap_or_default();
        let more = network.additional_ips.into_iter().map(|more| more.ip);
        std::iter::once(network.ip).chain(more).filter(|ip| !ip.is_empty()).collect()
    }
}

messages! {
    pub PodSandboxStatusResponse {
        message PodSandboxStatus status = 1;
        map info = 2;
    }

    pub PodSandboxStateValue {
        enum PodSandboxState state = 1;
    }

    pub PodSandboxFilter {
        string id = 1;
        message PodSandboxStateValue state = 2;
        map label_selector = 3;
    }

    pub ListPodSandboxRequest {
        message PodSandboxFilter filter = 1;
    }

    pub PodSandbox {
        string id = 1;
        message PodSandboxMetadata metadata = 2;
        enum PodSandboxState state = 3;
        int64 created_at = 4;
        map labels = 5;
        map annotations = 6;
        string runtime_handler = 7;
    }

    pub ListPodSandboxResponse {
        repeated message PodSandbox items = 1;
    }

    pub RuntimeConfigRequest {}

    pub LinuxRuntimeConfiguration {
        enum CgroupDriver cgroup_driver = 1;
    }

    pub RuntimeConfigResponse {
        message LinuxRuntimeConfiguration linux = 1;
    }
}
