//! The environment of shell tests: a server with a Deployment, and a temporary home directory.

use std::path::PathBuf;
use std::process::Command;

use super::running::command_output::CommandOutput;
use super::running::{Scratch, Server};

/// A server and a temporary home directory.
pub(crate) struct ShellEnv {
    pub(crate) server: Server,
    scratch: Scratch,
}

impl ShellEnv {
    /// An environment without controllers, with the Deployment `web` in `default`.
    pub(crate) fn with_deployment(test: &str) -> Self {
        let shell_env = Self::new(test);
        let output = shell_env.run("create deployment web --image=nginx:1");
        assert_eq!(output.code, Some(0), "{output:?}");
        shell_env
    }

    /// An environment with a server.
    pub(crate) fn new(test: &str) -> Self {
        let scratch = Scratch::new(&format!("shell-{test}"));
        let pki = scratch.join("pki").display().to_string();
        let arguments = ["--in-memory", "--pki-dir", &pki];
        let server = Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &arguments);
        Self { server, scratch }
    }

    /// The path of a file in the home directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Writes a file into the home directory, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name).display().to_string()
    }

    /// Runs a command with the kubeconfig of the server only; arguments are split at spaces.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        self.run_with(line, &[("KUBECONFIG", &self.server.kubeconfig.display().to_string())])
    }

    /// Runs a command with this environment only.
    pub(crate) fn run_with(&self, line: &str, environment: &[(&str, &str)]) -> CommandOutput {
        Command::new(env!("CARGO_BIN_EXE_gantry"))
            .args(line.split(' '))
            .env_clear()
            .env("HOME", self.file("home"))
            .envs(environment.iter().copied())
            .output()
            .unwrap()
            .into()
    }

    /// The completion candidates for a line, without their descriptions.
    pub(crate) fn candidates(&self, line: &str) -> Vec<String> {
        let output = self.run(&format!("__complete -- {line}"));
        assert_eq!((output.err.as_str(), output.code), ("", Some(0)), "completions print no errors");
        output.out.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    /// A file of the server's authority: `ca.crt`, `admin.crt`, `admin.key`.
    pub(crate) fn pki(&self, name: &str) -> String {
        self.file("pki").join(name).display().to_string()
    }
}
