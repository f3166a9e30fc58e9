//! The messages about images.
#![expect(missing_docs, reason = "names and meanings are those of the protocol")]

use gantry_grpc::messages;

use super::container::UInt64Value;
use super::sandbox::{Int64Value, PodSandboxConfig};

messages! {
    pub ImageSpec {
        string image = 1;
        map annotations = 2;
        string user_specified_image = 18;
        string runtime_handler = 19;
        string image_ref = 20;
    }

    pub ImageFilter {
        message ImageSpec image = 1;
    }

    pub ListImagesRequest {
        message ImageFilter filter = 1;
    }

    pub Image {
        string id = 1;
        repeated string repo_tags = 2;
        repeated string repo_digests = 3;
        uint64 size = 4;
        message Int64Value uid = 5;
        string username = 6;
        message ImageSpec spec = 7;
        bool pinned = 8;
    }

    pub ListImagesResponse {
        repeated message Image images = 1;
    }

    pub ImageStatusRequest {
        message ImageSpec image = 1;
        bool verbose = 2;
    }

    pub ImageStatusResponse {
        message Image image = 1;
        map info = 2;
    }

    pub AuthConfig {
        string username = 1;
        string password = 2;
        string auth = 3;
        string server_address = 4;
        string identity_token = 5;
        string registry_token = 6;
    }

    pub PullImageRequest {
        message ImageSpec image = 1;
        message AuthConfig auth = 2;
        message PodSandboxConfig sandbox_config = 3;
    }

    pub PullImageResponse {
        string image_ref = 1;
    }

    pub RemoveImageRequest {
        message ImageSpec image = 1;
    }

    pub RemoveImageResponse {}

    pub ImageFsInfoRequest {}

    pub FilesystemIdentifier {
        string mountpoint = 1;
    }

    pub FilesystemUsage {
        int64 timestamp = 1;
        message FilesystemIdentifier fs_id = 2;
        message UInt64Value used_bytes = 3;
        message UInt64Value inodes_used = 4;
    }

    pub ImageFsInfoResponse {
        repeated message FilesystemUsage image_filesystems = 1;
        repeated message FilesystemUsage container_filesystems = 2;
    }
}
