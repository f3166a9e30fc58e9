//! A temporary home directory with its own clusters.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gantry_json::Value;

use super::running::Scratch;
use super::running::command_output::CommandOutput;

/// The timeout of each wait, long enough for a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// A temporary home directory. Clusters that still run at the end are killed.
pub(crate) struct UserHome {
    scratch: Scratch,
}

/// A cluster in the foreground. Dropping it kills it.
pub(crate) struct Foreground(Child);

impl UserHome {
    pub(crate) fn new(test: &str) -> Self {
        Self { scratch: Scratch::new(&format!("clusters-{test}")) }
    }

    /// A file in the home directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// The directory of all clusters.
    pub(crate) fn data(&self) -> PathBuf {
        self.file(".local/share/gantry")
    }

    /// A command with this home directory, not started yet.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", self.file("")).env_remove("XDG_DATA_HOME").env_remove("KUBECONFIG");
        command.env("GANTRY_LOG", "error").stdin(Stdio::null());
        command
    }

    /// Runs `gantry` to its end.
    pub(crate) fn gantry(&self, arguments: &[&str]) -> CommandOutput {
        let mut command = self.command(env!("CARGO_BIN_EXE_gantry"));
        command.args(arguments).output().unwrap().into()
    }

    /// Runs `gantry`, which has to succeed.
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> CommandOutput {
        let output = self.gantry(arguments);
        assert_eq!(output.code, Some(0), "{arguments:?}: {output:?}");
        output
    }

    /// Runs `gantry`, which has to fail; returns its error output.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let output = self.gantry(arguments);
        assert_eq!(output.code, Some(1), "{arguments:?}: {output:?}");
        output.err
    }

    /// Starts a cluster in the foreground and waits until it reports that it is up.
    pub(crate) fn up(&self, arguments: &[&str]) -> Foreground {
        let mut command = self.command(env!("CARGO_BIN_EXE_gantry"));
        command.arg("up").args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains(" is up at http"), "{arguments:?} prints {line:?}");
        Foreground(child)
    }

    /// The entry of a cluster in `gantry clusters`.
    pub(crate) fn cluster(&self, name: &str) -> Option<Value> {
        self.clusters().into_iter().find(|cluster| cluster["name"] == name)
    }

    pub(crate) fn clusters(&self) -> Vec<Value> {
        let output = self.succeeds(&["clusters", "-o", "json"]);
        gantry_json::from_str::<Value>(&output.out).unwrap().as_array().unwrap().clone()
    }

    /// The kubeconfig of a cluster.
    pub(crate) fn kubeconfig(&self, name: &str) -> String {
        self.cluster(name).unwrap()["kubeconfig"].as_str().unwrap().to_owned()
    }
}

impl Foreground {
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits for the end; returns the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let end = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the process does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for UserHome {
    /// Detached clusters outlive a test that fails half-way.
    fn drop(&mut self) {
        let output = self.command(env!("CARGO_BIN_EXE_gantry")).args(["clusters", "-o", "json"]).output();
        let listed = output.ok().and_then(|output| gantry_json::from_slice::<Value>(&output.stdout).ok());
        for cluster in listed.iter().filter_map(Value::as_array).flatten() {
            let name = cluster["name"].as_str().unwrap_or_default();
            let _ = self.command(env!("CARGO_BIN_EXE_gantry")).args(["down", name, "--force"]).output();
        }
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// All files and directories below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.map(|entry| entry.unwrap().path()) {
        found.extend(files(&entry));
        found.push(entry);
    }
    found
}

/// The whole text of a file.
pub(crate) fn text(file: &Path) -> String {
    let mut text = String::new();
    std::fs::File::open(file).unwrap().read_to_string(&mut text).unwrap();
    text
}
