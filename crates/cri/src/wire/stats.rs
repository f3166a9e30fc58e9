//! The messages about the resource usage of containers.
#![expect(missing_docs, reason = "names and meanings are those of the protocol")]

use gantry_grpc::messages;

use super::container::{ContainerMetadata, UInt64Value};
use super::image::FilesystemUsage;
use super::sandbox::PodSandboxMetadata;

messages! {
    pub ListContainerStatsRequest {}

    pub ListContainerStatsResponse {
        repeated message ContainerStats stats = 1;
    }

    pub ContainerAttributes {
        string id = 1;
        message ContainerMetadata metadata = 2;
        map labels = 3;
    }

    pub ContainerStats {
        message ContainerAttributes attributes = 1;
        message CpuUsage cpu = 2;
        message MemoryUsage memory = 3;
        message FilesystemUsage writable_layer = 4;
    }

    pub CpuUsage {
        int64 timestamp = 1;
        message UInt64Value usage_core_nano_seconds = 2;
        message UInt64Value usage_nano_cores = 3;
    }

    pub MemoryUsage {
        int64 timestamp = 1;
        message UInt64Value working_set_bytes = 2;
        message UInt64Value available_bytes = 3;
        message UInt64Value usage_bytes = 4;
        message UInt64Value rss_bytes = 5;
        message UInt64Value page_faults = 6;
        message UInt64Value major_page_faults = 7;
    }

    pub ListPodSandboxStatsRequest {}

    pub ListPodSandboxStatsResponse {
        repeated message PodSandboxStats stats = 1;
    }

    pub PodSandboxAttributes {
        string id = 1;
        message PodSandboxMetadata metadata = 2;
        map labels = 3;
    }

    pub PodSandboxStats {
        message PodSandboxAttributes attributes = 1;
        message LinuxPodSandboxStats linux = 2;
    }

    pub LinuxPodSandboxStats {
        message CpuUsage cpu = 1;
        message MemoryUsage memory = 2;
        message NetworkUsage network = 3;
        message ProcessUsage process = 4;
    }

    pub NetworkUsage {
        int64 timestamp = 1;
        message NetworkInterfaceUsage default_interface = 2;
    }

    pub NetworkInterfaceUsage {
        string name = 1;
        message UInt64Value rx_bytes = 2;
        message UInt64Value rx_errors = 3;
        message UInt64Value tx_bytes = 4;
        message UInt64Value tx_errors = 5;
    }

    pub ProcessUsage {
        int64 timestamp = 1;
        message UInt64Value process_count = 2;
    }
}
