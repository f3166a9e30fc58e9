//! Somebody's desk: a server with a Deployment, and a home of its own to type commands in.

use std::path::PathBuf;
use std::process::Command;

use super::running::said::Said;
use super::running::{Scratch, Server};

/// Where somebody types.
pub(crate) struct Desk {
    pub(crate) server: Server,
    scratch: Scratch,
}

impl Desk {
    /// A desk with a server on which nothing runs by itself, and the Deployment `web` in `default`.
    pub(crate) fn with_deployment(test: &str) -> Self {
        let desk = Self::new(test);
        let said = desk.types("create deployment web --image=nginx:1");
        assert_eq!(said.code, Some(0), "{said:?}");
        desk
    }

    /// A desk with a server.
    pub(crate) fn new(test: &str) -> Self {
        let scratch = Scratch::new(&format!("shell-{test}"));
        let pki = scratch.join("pki").display().to_string();
        let arguments = ["--in-memory", "--pki-dir", &pki];
        let server = Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &arguments);
        Self { server, scratch }
    }

    /// A file on the desk.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Writes a file on the desk, and says where it is.
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
