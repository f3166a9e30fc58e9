//! `gantry apiserver`: runs the API server only, on the store that the flags select.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gantry_cluster::Options;
use gantry_runtime::error_chain;

use crate::output::print;
use crate::server_process::{self, Etcd, EtcdFiles, ServerFlags, Signals, StorageTarget, Verbosity};
use crate::up::DEFAULT_ADDRESS;

/// The flags of `gantry apiserver`.
#[derive(Debug, Args)]
pub(crate) struct ApiserverFlags {
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    etcd_files: EtcdFiles,
    #[command(flatten)]
    server: ServerFlags,
}

/// Where data is stored: exactly one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false, id = "where")]
struct StoreFlags {
    /// Store the data in this directory, which is created if needed
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Store the data in memory, until the server stops
    #[arg(long)]
    in_memory: bool,
    /// Store the data in etcd, at these URLs
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    etcd: Vec<String>,
}

impl ApiserverFlags {
    fn storage(&self) -> StorageTarget {
        let store = &self.store;
        match &store.data_dir {
            Some(directory) => StorageTarget::Directory(directory.clone()),
            None if store.in_memory => StorageTarget::Memory,
            None => StorageTarget::Etcd(Etcd { urls: store.etcd.clone(), files: self.etcd_files.clone() }),
        }
    }
}

/// Runs the server until it receives a signal.
pub(crate) fn run(flags: &ApiserverFlags) -> ExitCode {
    server_process::run(flags.server.log_format, Verbosity::Info, serve(flags))
}

async fn serve(flags: &ApiserverFlags) -> Result<ExitCode, String> {
    let mut signals = Signals::new()?;
    let options = server_process::options(&flags.server, &flags.storage(), DEFAULT_ADDRESS).await?;
    let cluster = server_process::launch(Options { controllers: false, nodes: 0, ..options }).await?;
    let usage = match (&flags.server.write_kubeconfig, cluster.kubeconfig()) {
        (Some(file), Some(kubeconfig)) => {
            kubeconfig.write(file).map_err(|error| format!("--write-kubeconfig: {}", error_chain(&error)))?;
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            format!("Use it with: export KUBECONFIG={}", file.display())
        }
        _ => "To use it with kubectl, start with --write-kubeconfig FILE".to_owned(),
    };
    // A closed standard output does not stop the server.
    print(&format!("The API is at {}\n{usage}\n", cluster.url().unwrap_or_default()));
    server_process::run_to_end(cluster, &mut signals).await?;
    Ok(ExitCode::SUCCESS)
}
