//! `gantry up --detach`: starts the same command as a background process, which reports its progress on a pipe.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::startup_message::StartupMessage;
use super::{READY_TIMEOUT, UpFlags};
use crate::clusters::{ClusterDir, running};
use crate::output::{fail, print};
use crate::server_process::warn_if_exposed;

/// Printed by the detached process when the API is served.
pub(super) const SERVING: &str = "serving\n";
/// Printed by the detached process when the cluster is ready.
pub(super) const READY: &str = "ready\n";

/// How many log lines are printed if the start fails.
const LINES_SHOWN: usize = 20;

/// Starts the cluster in the background; returns when it serves, or with --wait when it is ready.
pub(super) fn run(flags: &UpFlags) -> ExitCode {
    match start(flags) {
        Ok(text) => print(&text),
        Err(message) => fail(&message),
    }
}

/// Starts a new session, so that closing the terminal or Ctrl-C does not end this process.
pub(super) fn leave_terminal() -> Result<(), String> {
    rustix::process::setsid().map(drop).map_err(|error| format!("cannot start a new session: {error}"))
}

fn start(flags: &UpFlags) -> Result<String, String> {
    let dir = flags.dir()?;
    if let Some(record) = running(&dir)? {
        return Err(record.already(&dir));
    }
    dir.create()?;
    let log = log_file(&dir)?;
    if let Some(address) = flags.server.listen {
        warn_if_exposed(address);
    }
    let mut child = spawn(flags, &dir, &log)?;
    let stdout = child.stdout.take().ok_or("the process has no standard output")?;
    let (source, timeout) = match flags.wait {
        Some(timeout) => (READY, timeout),
        None => (SERVING, READY_TIMEOUT),
    };
    match wait_for(source, stdout, timeout) {
        Ok(()) => startup_message(flags, &dir),
        Err(RecvTimeoutError::Timeout) => Err(format!(
            "{} is not ready after {timeout:?}; process {} keeps running, its log is {}\nhint: wait longer with --wait=5m",
            dir.title(),
            child.id(),
            dir.log().display()
        )),
        Err(RecvTimeoutError::Disconnected) => Err(why_it_ended(&dir, &mut child, log)),
    }
}

/// Opens the log; the previous one is kept as `up.log.1`.
fn log_file(dir: &ClusterDir) -> Result<File, String> {
    let path = dir.log();
    if path.exists() {
        // On failure, the log is appended to.
        let _ = fs::rename(&path, path.with_extension("log.1"));
    }
    let opened = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path);
    opened.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn spawn(flags: &UpFlags, dir: &ClusterDir, log: &File) -> Result<Child, String> {
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(env::args_os().skip(1)).arg("--detached");
    if let (None, Some(name)) = (&flags.name, dir.name.as_ref().filter(|_| flags.in_memory)) {
        command.args(["--name", name.as_str()]);
    }
    let stderr = log.try_clone().map_err(|error| format!("cannot use the log: {error}"))?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
    command.spawn().map_err(|error| format!("cannot start a process: {error}"))
}

/// Returns when the process prints the expected line, at the timeout, or when the process ends.
fn wait_for(source: &str, stdout: ChildStdout, timeout: Duration) -> Result<(), RecvTimeoutError> {
    let (sender, lines) = mpsc::channel();
    // Ends when the child closes the pipe.
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let end = Instant::now() + timeout;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if lines.recv_timeout(left)? == source.trim_end() {
            return Ok(());
        }
    }
}

fn why_it_ended(dir: &ClusterDir, child: &mut Child, mut log: File) -> String {
    let ended = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
    let mut text = String::new();
    // The file is of this start only, and the handle works even if the file was removed.
    let read = std::io::Seek::rewind(&mut log).and_then(|()| log.read_to_string(&mut text));
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
    match read {
        Ok(_) if !last.is_empty() => {
            format!("{} did not start ({ended}):\n{}", dir.title(), last.trim_start_matches("error: "))
        }
        _ => format!("{} did not start ({ended})", dir.title()),
    }
}

fn startup_message(flags: &UpFlags, dir: &ClusterDir) -> Result<String, String> {
    let record = running(dir)?.ok_or_else(|| format!("{} has exited", dir.title()))?;
    let startup_message = StartupMessage {
        dir: Some(dir),
        in_memory: flags.in_memory,
        nodes: flags.nodes(),
        has_agent: flags.cri.is_some(),
        url: record.url.unwrap_or_default(),
        kubeconfig: record.kubeconfig.unwrap_or_else(|| dir.kubeconfig()),
    };
    Ok(startup_message.detached(&dir.log().display().to_string()))
}
