//! The real binary as a server process, and clients that find it by its kubeconfig.

#![allow(dead_code, reason = "every test file that runs servers needs another part of this")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A directory that is removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gantry-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server process; dropping it kills it.
pub(crate) struct Server {
    child: Child,
    /// Kept open: the server may say more.
    _stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) kubeconfig: PathBuf,
}

impl Server {
    /// Starts a server on this address with these arguments, and waits until it says where it is.
    pub(crate) fn start(listen: &str, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gantry"))
            .args(["apiserver", "--listen", listen, "--write-kubeconfig"])
            .arg(kubeconfig)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("The API is at ");
        let url = url.unwrap_or_else(|| panic!("the server said {line:?} instead of where it is")).to_owned();
        Self { child, _stdout: stdout, url, kubeconfig: kubeconfig.to_owned() }
    }

    /// A server on a free port that keeps everything in this directory.
    pub(crate) fn in_directory(directory: &Path, kubeconfig: &Path) -> Self {
        Self::start("127.0.0.1:0", kubeconfig, &["--data-dir", &directory.display().to_string()])
    }

    /// The address, to start another one on it.
    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by name and waits for the end.
    pub(crate) fn end_by(&mut self, signal: &str) -> ExitStatus {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not stop on {signal}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A client for the administrator.
    pub(crate) async fn client(&self) -> kube::Client {
        client(&self.kubeconfig).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that takes everything from a kubeconfig.
pub(crate) async fn client(kubeconfig: &Path) -> kube::Client {
    let config = kube::config::Kubeconfig::read_from(kubeconfig).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let mut config = kube::Config::from_custom_kubeconfig(config, &options).await.unwrap();
    config.connect_timeout = Some(Duration::from_secs(5));
    config.read_timeout = None;
    kube::Client::try_from(config).unwrap()
}
