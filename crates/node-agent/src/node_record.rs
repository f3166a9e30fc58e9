//! The resources of a node in a container runtime and on the disk, so that they can be removed with its cluster.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gantry_cri::{Runtime, RuntimeError};
use gantry_json::{Value, json};

use crate::cgroups::Cgroups;
use crate::pod_files::{PodFiles, pods_directory};
use crate::runtime_pods::RuntimePods;
use crate::sandbox_config::log_directory_name;

/// The resources of a node in a container runtime and on the disk.
#[derive(Clone, Debug)]
pub(crate) struct NodeRecord {
    pub(crate) socket: PathBuf,
    /// The label value of the cluster and the node.
    pub(crate) owner: String,
    pub(crate) root: PathBuf,
    pub(crate) logs: PathBuf,
}

impl NodeRecord {
    /// Writes the record to a file, for a later removal.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let record = json!({
            "socket": self.socket.to_string_lossy(),
            "owner": self.owner,
            "root": self.root.to_string_lossy(),
            "logs": self.logs.to_string_lossy(),
        });
        fs::write(file, format!("{record}\n"))
    }

    fn read(file: &Path) -> Option<Self> {
        let record: Value = gantry_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        Some(Self {
            socket: text("socket")?.into(),
            owner: text("owner")?,
            root: text("root")?.into(),
            logs: text("logs")?.into(),
        })
    }

    /// Stops and removes all pods, with their directories and cgroups, and the routes of Services.
    pub(crate) async fn remove(&self, runtime: &Runtime) -> Result<(), RuntimeError> {
        gantry_service_proxy::remove_tables(&self.owner).await;
        for (uid, runtime_pod) in RuntimePods::list(runtime, &self.owner).await?.0 {
            for sandbox in &runtime_pod.sandboxes {
                runtime.stop_sandbox(&sandbox.id).await?;
                runtime.remove_sandbox(&sandbox.id).await?;
                if let Some(metadata) = &sandbox.metadata {
                    let logs = log_directory_name(&metadata.namespace, &metadata.name, &uid);
                    let _ = fs::remove_dir_all(self.logs.join(logs));
                }
            }
        }
        let directories = fs::read_dir(pods_directory(&self.root)).into_iter().flatten().flatten();
        for entry in directories {
            let uid = entry.file_name().to_string_lossy().into_owned();
            if let Err(error) = PodFiles::new(&self.root, &uid).remove() {
                tracing::warn!(uid, %error, "cannot remove the directory of a pod");
            }
        }
        let _ = fs::remove_dir_all(&self.root);
        Cgroups::of(&self.owner).remove_all();
        Ok(())
    }
}

/// Stops and removes all pods of the node that wrote this file; does nothing if there is no such file.
pub async fn remove_recorded(file: &Path) -> Result<(), RuntimeError> {
    match NodeRecord::read(file) {
        Some(record) => record.remove(&Runtime::at(&record.socket)).await,
        None => Ok(()),
    }
}
