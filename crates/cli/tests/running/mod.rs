//! Runs the real binary as a process, and clients that use its kubeconfig.

#![allow(dead_code, reason = "every test file that runs servers needs another part of this")]

pub(crate) mod command_output;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A directory that is removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gantry-{name}-{}-{number}", std::process::id()));
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

/// A process of the binary; dropping it kills it.
pub(crate) struct Process(Child);

/// An in-memory server that ends with the test, and a directory for its clients.
pub(crate) struct InMemory {
    server: Server,
    folder: Scratch,
}

/// A server process.
pub(crate) struct Server {
    process: Process,
    /// Kept open, because the server may print more.
    _stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) kubeconfig: PathBuf,
}

impl Process {
    /// Starts the binary with these arguments; `with` changes the command before.
    pub(crate) fn start(arguments: &[&str], with: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command.args(arguments).stdin(Stdio::null());
        with(&mut command);
        Self(command.spawn().unwrap())
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Kills it, like a crash.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// The exit status, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }
}

impl InMemory {
    /// The API server alone.
    pub(crate) fn apiserver() -> Self {
        let folder = Scratch::new("in-memory");
        let server = Server::start("127.0.0.1:0", &folder.join("kubeconfig"), &["--in-memory"]);
        Self { server, folder }
    }

    /// A cluster with so many nodes.
    pub(crate) fn cluster_of(nodes: usize) -> Self {
        let folder = Scratch::new("in-memory");
        let arguments = ["--in-memory", "--nodes", &nodes.to_string()];
        let server = Server::run("up", "127.0.0.1:0", &folder.join("kubeconfig"), &arguments);
        Self { server, folder }
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.server.kubeconfig
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder.0
    }
}

impl Server {
    /// Starts an API server on this address with these arguments, and waits until it prints its URL.
    pub(crate) fn start(listen: &str, kubeconfig: &Path, arguments: &[&str]) -> Self {
        Self::run("apiserver", listen, kubeconfig, arguments)
    }

    fn run(command: &str, listen: &str, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let mut process = Process::start(&[command, "--listen", listen, "--write-kubeconfig"], |command| {
            command.arg(kubeconfig).args(arguments).stdout(Stdio::piped());
            // The clusters of tests are not listed among those of the user who runs the tests.
            command.env("XDG_DATA_HOME", kubeconfig.with_extension("clusters"));
            // Informational messages would hide the output of tests.
            command.env("GANTRY_LOG", std::env::var("GANTRY_LOG").unwrap_or_else(|_| "error".to_owned()));
        });
        let mut stdout = BufReader::new(process.0.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("http"));
        let url = url.unwrap_or_else(|| panic!("the server printed {line:?} instead of its URL"));
        let url = url.trim_end_matches(',').to_owned();
        Self { process, _stdout: stdout, url, kubeconfig: kubeconfig.to_owned() }
    }

    /// A server on a free port that stores its data in this directory.
    pub(crate) fn in_directory(directory: &Path, kubeconfig: &Path) -> Self {
        Self::start("127.0.0.1:0", kubeconfig, &["--data-dir", &directory.display().to_string()])
    }

    /// The address, to start another server on it.
    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills it, like a crash.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Sends a signal by name and waits for the end.
    pub(crate) fn end_by(&mut self, signal: &str) -> ExitStatus {
        self.process.signal(signal);
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(status) = self.process.ended() {
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

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already, which the test has reported then.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client that is configured by a kubeconfig only.
pub(crate) async fn client(kubeconfig: &Path) -> kube::Client {
    let config = kube::config::Kubeconfig::read_from(kubeconfig).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let mut config = kube::Config::from_custom_kubeconfig(config, &options).await.unwrap();
    config.connect_timeout = Some(Duration::from_secs(60));
    config.read_timeout = None;
    kube::Client::try_from(config).unwrap()
}
