//! etcd for tests: processes on free ports with their data in a temporary directory, and etcdctl.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gantry_store::Store;
use gantry_store_etcd::{EtcdStore, Settings};

/// A cluster of etcd processes; dropping it kills them and removes their data.
#[derive(Debug)]
pub(crate) struct Etcd {
    directory: PathBuf,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    arguments: Vec<String>,
    url: String,
    log: PathBuf,
    process: Option<Child>,
}

impl Etcd {
    /// One member that does not sync to disk, for tests that never kill it.
    pub(crate) fn quick() -> Self {
        Self::start(1, &["--unsafe-no-fsync"])
    }

    /// This many members, as durable as etcd is.
    pub(crate) fn start(members: usize, arguments: &[&str]) -> Self {
        Self::start_in(&std::env::temp_dir(), members, arguments)
    }

    /// This many members with their data below this directory.
    pub(crate) fn start_in(parent: &Path, members: usize, arguments: &[&str]) -> Self {
        let arguments = |_: &Path| arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self::start_with("http", parent, members, arguments)
    }

    /// This many members whose clients use this scheme, with arguments that may name files in the directory.
    pub(crate) fn start_with(
        scheme: &str,
        parent: &Path,
        members: usize,
        arguments: impl Fn(&Path) -> Vec<String>,
    ) -> Self {
        for _ in 0..START_ATTEMPTS {
            let mut etcd = Self::configured(scheme, parent, members, &arguments);
            (0..members).for_each(|member| etcd.launch(member));
            if (0..members).all(|member| etcd.comes_up(member)) {
                return etcd;
            }
        }
        panic!("other processes take every port before etcd does")
    }

    /// Members that are not launched yet, each on ports that were free a moment ago.
    fn configured(
        scheme: &str,
        parent: &Path,
        members: usize,
        arguments: &impl Fn(&Path) -> Vec<String>,
    ) -> Self {
        let directory = new_directory(parent);
        let ports: Vec<_> = (0..members).map(|_| (free_port(), free_port())).collect();
        let peers = ports.iter().enumerate().map(|(n, (_, peer))| format!("m{n}=http://127.0.0.1:{peer}"));
        let peers = peers.collect::<Vec<_>>().join(",");
        let members = ports.iter().enumerate().map(|(number, (client, peer))| {
            let url = format!("{scheme}://127.0.0.1:{client}");
            let peer = format!("http://127.0.0.1:{peer}");
            let data = directory.join(format!("m{number}"));
            let mut all = Vec::new();
            let mut flag = |name: &str, value: &str| all.push(format!("--{name}={value}"));
            flag("name", &format!("m{number}"));
            flag("data-dir", &data.display().to_string());
            flag("listen-client-urls", &url);
            flag("advertise-client-urls", &url);
            flag("listen-peer-urls", &peer);
            flag("initial-advertise-peer-urls", &peer);
            flag("initial-cluster", &peers);
            flag("logger", "zap");
            flag("log-level", "error");
            all.extend(arguments(&directory));
            Member { arguments: all, url, log: data.with_extension("log"), process: None }
        });
        let members = members.collect();
        Self { directory, members }
    }

    /// Starts a member, for the first time or again. It is not ready when this returns.
    pub(crate) fn launch(&mut self, member: usize) {
        let Member { arguments, log, process, .. } = &mut self.members[member];
        let log = File::options().create(true).append(true).open(log).unwrap();
        let started = Command::new("etcd")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        *process = Some(started.unwrap_or_else(|error| panic!("etcd does not start ({error}); {MISSING}")));
    }

    /// Kills a member as a crash would, with SIGKILL.
    pub(crate) fn kill(&mut self, member: usize) {
        let process = self.members[member].process.take();
        let mut process = process.expect("the member runs");
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.members.iter().map(|member| member.url.clone()).collect()
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Settings for these members, without compaction.
    pub(crate) fn settings(&self) -> Settings {
        Settings { compact_every: None, ..Settings::new(self.urls()) }
    }

    /// A store on these members.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        open(&self.settings()).await
    }

    /// Runs etcdctl and returns its output.
    pub(crate) fn ctl(&self, arguments: &[&str]) -> String {
        let result = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .arg(format!("--endpoints={}", self.urls().join(",")))
            .args(arguments)
            .output()
            .unwrap_or_else(|error| panic!("etcdctl does not start ({error}); {MISSING}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(result.status.success(), "etcdctl {arguments:?}: {}", text(&result.stderr));
        text(&result.stdout)
    }

    /// Waits until a member takes part in its cluster: until it serves a linearizable read.
    pub(crate) async fn becomes_healthy(&mut self, member: usize) {
        let deadline = Instant::now() + Duration::from_secs(120);
        let endpoint = format!("--endpoints={}", self.members[member].url);
        loop {
            let mut check = tokio::process::Command::new("etcdctl");
            let check = check.env("ETCDCTL_API", "3").args([&endpoint, "endpoint", "health"]).output();
            let result =
                check.await.unwrap_or_else(|error| panic!("etcdctl does not start ({error}); {MISSING}"));
            if result.status.success() {
                return;
            }
            assert!(Instant::now() < deadline, "{}", String::from_utf8_lossy(&result.stderr));
        }
    }

    /// Waits until a member listens. Returns false if another process took its port in between.
    fn comes_up(&mut self, member: usize) -> bool {
        let deadline = Instant::now() + Duration::from_secs(120);
        let Member { url, log, process, .. } = &mut self.members[member];
        let address = url.split("://").nth(1).expect("the URL has a scheme").to_owned();
        while std::net::TcpStream::connect(&address).is_err() {
            let ended = process.as_mut().and_then(|process| process.try_wait().unwrap());
            let output = || fs::read_to_string(&*log).unwrap_or_default();
            if ended.is_some() && output().contains("address already in use") {
                return false;
            }
            assert!(ended.is_none(), "etcd ended with {ended:?}: {}", output());
            assert!(Instant::now() < deadline, "etcd does not listen on {url}: {}", output());
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        for member in 0..self.members.len() {
            if self.members[member].process.is_some() {
                self.kill(member);
            }
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A store with these settings, once etcd responds; even with short timeouts, a busy machine has enough time.
pub(crate) async fn open(settings: &Settings) -> Arc<dyn Store> {
    let store = EtcdStore::new(settings).expect("the settings are right");
    let deadline = Instant::now() + Duration::from_secs(120);
    while let Err(error) = store.ready().await {
        assert!(Instant::now() < deadline, "etcd does not respond: {error}");
    }
    Arc::new(store)
}

/// How often members are restarted on other ports because one was taken.
const START_ATTEMPTS: usize = 10;

/// The hint if etcd is not installed.
const MISSING: &str = "`cargo xtask test` installs it (Debian packages etcd-server and etcd-client)";

fn new_directory(parent: &Path) -> PathBuf {
    static DIRECTORIES: AtomicU32 = AtomicU32::new(0);
    let number = DIRECTORIES.fetch_add(1, Ordering::Relaxed);
    let directory = parent.join(format!("gantry-etcd-{}-{number}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// A port below those that the system assigns, so that a stopped member keeps its own.
pub(crate) fn free_port() -> u16 {
    static PORTS: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = PORTS.fetch_add(1, Ordering::Relaxed) + std::process::id() * 61;
        let port = 16_000 + u16::try_from(number % 16_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
