//! The real binary, serving from memory on a port of its own, for as long as a test runs.

#![allow(dead_code, reason = "whoever tests with it needs another part of this")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the server may take until its kubeconfig is there. It takes a blink; a loaded machine may not.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that ends with the test.
pub(crate) struct Server {
    process: Child,
    folder: PathBuf,
}

impl Server {
    /// The API server alone.
    pub(crate) fn start() -> Self {
        Self::run(&["apiserver"])
    }

    /// A cluster without nodes.
    pub(crate) fn start_cluster() -> Self {
        Self::start_cluster_of("0")
    }

    /// A cluster with that many nodes.
    pub(crate) fn start_cluster_of(nodes: &str) -> Self {
        Self::run(&["up", "--nodes", nodes])
    }

    fn run(command: &[&str]) -> Self {
        static STARTED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = STARTED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("gantry-clients-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let kubeconfig = folder.join("kubeconfig");
        let process = Command::new(env!("CARGO_BIN_EXE_gantry"))
            .args(command)
            .args(["--in-memory", "--listen", "127.0.0.1:0", "--write-kubeconfig"])
            .arg(&kubeconfig)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while !kubeconfig.exists() {
            assert!(started.elapsed() < PATIENCE, "the server wrote no kubeconfig");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { process, folder }
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already: then the test has said so.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
