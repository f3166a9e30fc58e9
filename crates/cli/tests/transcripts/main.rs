//! Sessions with kubectl, recorded on Kubernetes 1.37 and replayed with `gantry up`: the terminal shows the same, line
//! by line, with the kubectl on the `PATH` (1.32), with Debian's 1.20, and with Gantry's own verbs, which are those of
//! 1.37.
//!
//! `cargo xtask test` installs the old one below `target/tools`; a client that is missing is a failure, not a pass.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mask;
#[path = "../running/mod.rs"]
mod running;
mod session;
#[path = "../clients/tools.rs"]
mod tools;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gantry_kubectl::Connection;
use gantry_runtime::{ApiTransport, Clock};
use tokio::process::Command;
use tokio::time::timeout;

use gantry_test_cluster::TestNamespace;
use running::InMemory;
use session::{CommandOutput, Meanwhile, Step};

/// The timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(180);

/// How long controllers may wait for the CPU.
const STARVED: Duration = Duration::from_secs(60);

/// The attempts to replay a session in which user and controllers write in the same second.
const ATTEMPTS: usize = 30;

/// Commands of 1.37 that Gantry does not have; the kubectl on the `PATH` runs them, so that the session can continue.
const NOT_OURS: [&str; 4] = ["auth", "autoscale", "cluster-info", "expose"];

/// The sessions of one version of kubectl.
struct KubectlSessions<'s> {
    kubectl: PathBuf,
    version: &'static str,
    server: &'s InMemory,
}

#[tokio::test]
async fn the_installed_kubectl_prints_the_recorded_output() {
    let server = InMemory::cluster_of(0);
    let sessions = KubectlSessions { kubectl: "kubectl".into(), version: "1.32", server: &server };
    sessions.has_the_recorded_version().await;
    sessions.plays_every_session().await;
}

#[tokio::test]
async fn the_oldest_kubectl_prints_the_recorded_output() {
    let server = InMemory::cluster_of(0);
    let kubectl = tools::tool("kubectl-1.20/usr/bin/kubectl");
    let sessions = KubectlSessions { kubectl, version: "1.20", server: &server };
    sessions.has_the_recorded_version().await;
    sessions.plays_every_session().await;
}

#[tokio::test]
async fn gantry_prints_the_recorded_output_of_kubectl() {
    let server = InMemory::cluster_of(0);
    let kubectl = env!("CARGO_BIN_EXE_gantry").into();
    KubectlSessions { kubectl, version: "1.37", server: &server }.plays_every_session().await;
}

impl KubectlSessions<'_> {
    async fn has_the_recorded_version(&self) {
        let version = self.runs(&["version", "--client"]).await.out;
        assert!(version.contains(&format!("v{}.", self.version)), "recorded was {}: {version}", self.version);
    }

    async fn plays_every_session(&self) {
        let mut sessions: Vec<PathBuf> = std::fs::read_dir(folder().join(self.version))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        sessions.sort();
        assert_eq!(sessions.len(), 10);
        let mut differences = Vec::new();
        for session in sessions {
            let recorded = std::fs::read_to_string(&session).unwrap();
            let name = session.file_stem().unwrap().to_str().unwrap();
            let shown = self.plays_as_recorded(name, &recorded).await;
            differences.extend(difference(name, &recorded, &shown));
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }

    /// Replays a session, repeatedly if user and controllers did not write in the same second as in the recorded one.
    async fn plays_as_recorded(&self, name: &str, recorded: &str) -> Vec<String> {
        for attempt in 1..=ATTEMPTS {
            if let Some(shown) = self.plays(&format!("session-{attempt}-{name}"), recorded).await {
                return shown;
            }
        }
        panic!("{name}: user and controllers never wrote in the same second");
    }

    /// Replays a session in a namespace; returns its output, or `None` if the times of writes cannot be compared.
    async fn plays(&self, namespace: &str, recorded: &str) -> Option<Vec<String>> {
        let transport = transport(self.server.kubeconfig()).await;
        let mut stage = TestNamespace::new(transport, namespace, Clock::system()).await;
        stage.starved = STARVED;
        let mut shown = Vec::new();
        for step in session::steps(recorded) {
            match step {
                Step::Command(command) => {
                    if command.starts_with("diff ") && !wrote_in_one_second(&stage).await {
                        return None;
                    }
                    shown.extend(self.types(&mut stage, &command).await);
                }
                Step::Meanwhile(meanwhile) => {
                    shown.push(format!("# {meanwhile}"));
                    happens(&mut stage, meanwhile).await;
                }
            }
        }
        Some(shown)
    }

    async fn types(&self, stage: &mut TestNamespace, command: &str) -> Vec<String> {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        let verb = arguments[0];
        let namespace = stage.namespace.clone();
        let is_of_no_namespace = ["api-resources", "auth", "explain", "cluster-info"].contains(&verb);
        if !is_of_no_namespace && !arguments.contains(&"-n") {
            arguments.extend(["-n", &namespace]);
        }
        if verb == "diff" {
            another_second().await;
        }
        let output = self.runs(&arguments).await;
        if verb != "get" && verb != "describe" {
            stage.settle().await;
        }
        // New sets get their short names.
        stage.sets().await;
        session::shown(stage, command, &output)
    }

    async fn runs(&self, arguments: &[&str]) -> CommandOutput {
        let is_ours = self.version != "1.37" || !NOT_OURS.contains(&arguments[0]);
        let mut command = Command::new(if is_ours { self.kubectl.as_path() } else { Path::new("kubectl") });
        command.args(arguments).current_dir(folder().join("files")).kill_on_drop(true);
        command.env("KUBECONFIG", self.server.kubeconfig()).env("NO_COLOR", "1");
        // Its discovery cache must not outlive the server.
        command.env("HOME", self.server.folder()).env("KUBECTL_EXTERNAL_DIFF", "diff -u -N");
        let output = timeout(TIMEOUT, command.output()).await;
        let output = output.unwrap_or_else(|_| panic!("{arguments:?} does not end")).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        CommandOutput {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

/// Whether the last writes of user and controllers to each Deployment were in the same second: `diff` shows
/// `managedFields`, whose order depends on it.
async fn wrote_in_one_second(stage: &TestNamespace) -> bool {
    stage.list("deployments").await.iter().all(|deployment| {
        let entries = deployment["metadata"]["managedFields"].as_array().unwrap();
        entries.iter().all(|entry| entry["time"] == entries[0]["time"])
    })
}

/// Waits until the second of the last write is over.
///
/// `diff` shows the times in `managedFields`, which are whole seconds: the recorded session had written in an earlier one.
async fn another_second() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let then = now();
    while now() == then {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn happens(stage: &mut TestNamespace, meanwhile: Meanwhile) {
    match meanwhile {
        Meanwhile::ReadyAll => stage.ready_all().await,
        Meanwhile::Ready(n) => {
            for _ in 0..n {
                stage.ready_one().await;
            }
        }
        Meanwhile::Drain => stage.drain().await,
        Meanwhile::Wait(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
    }
    stage.settle().await;
}

/// The first line that differs, with the lines around it.
fn difference(name: &str, recorded: &str, shown: &[String]) -> Option<String> {
    let recorded: Vec<&str> = recorded.lines().collect();
    let at = (0..recorded.len().max(shown.len()))
        .find(|at| recorded.get(*at).copied() != shown.get(*at).map(String::as_str))?;
    let around = at.saturating_sub(2)..at + 5;
    let there = recorded.get(around.start..around.end.min(recorded.len())).unwrap_or_default();
    let here = shown.get(around.start..around.end.min(shown.len())).unwrap_or_default();
    let (there, here) = (there.join("\n    "), here.join("\n    "));
    Some(format!("{name}, line {}\n  kubernetes:\n    {there}\n  here:\n    {here}", at + 1))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

async fn transport(kubeconfig: &Path) -> ApiTransport {
    let connection = Connection { kubeconfig: Some(kubeconfig.to_owned()), ..Connection::default() };
    connection.open().await.unwrap().0
}
