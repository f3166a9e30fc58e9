//! The environment of shell tests: a server with a Deployment, and a temporary home directory.

use std::path::PathBuf;
use std::process::Command;

use super::running::said::Said;
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
        let said = shell_env.types("create deployment web --image=nginx:1");
        assert_eq!(said.code, Some(0), "{said:?}");
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

    /// Runs a command in a world without other kubeconfigs; words are split at spaces.
    pub(crate) fn types(&self, line: &str) -> Said {
        self.types_with(line, &[("KUBECONFIG", &self.server.kubeconfig.display().to_string())])
    }

    /// The same, with this environment.
    pub(crate) fn types_with(&self, line: &str, environment: &[(&str, &str)]) -> Said {
        Command::new(env!("CARGO_BIN_EXE_gantry"))
            .args(line.split(' '))
            .env_clear()
            .env("HOME", self.file("home"))
            .envs(environment.iter().copied())
            .output()
            .unwrap()
            .into()
    }

    /// What could be typed next, without its explanations.
    pub(crate) fn candidates(&self, line: &str) -> Vec<String> {
        let said = self.types(&format!("__complete -- {line}"));
        assert_eq!((said.err.as_str(), said.code), ("", Some(0)), "completions stay silent");
        said.out.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    /// A file of the server's authority: `ca.crt`, `admin.crt`, `admin.key`.
    pub(crate) fn pki(&self, name: &str) -> String {
        self.file("pki").join(name).display().to_string()
    }
}
