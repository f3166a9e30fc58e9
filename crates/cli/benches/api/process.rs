//! The server's process.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server; dropping it stops it.
pub(crate) struct Process {
    child: Child,
    address: String,
    /// Kept open, because the server may print more.
    _stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a server on this directory, and waits until it prints its address.
    pub(crate) fn start(directory: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gantry"))
            .args(["apiserver", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("The API is at https://");
        let address = address.unwrap_or_else(|| panic!("the server printed {line:?}")).to_owned();
        Self { child, address, _stdout: stdout }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The resident memory of the process.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}
