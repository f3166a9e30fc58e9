//! Third-party clients against the real binary over TLS: kubectl (the one on the `PATH` and Debian's 1.20),
//! the Python client, the JavaScript client and kube-rs. Each creates, reads, lists, watches through a reconnect, patches
//! in every way and deletes with every policy, of kinds that are built in and of one that is defined in `boats.yaml`.
//!
//! `cargo xtask test` installs the clients below `target/tools`; a client that is missing is a failure, not a pass.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod custom;
mod custom_kube_rs;
mod describe;
mod drain;
mod kube_rs;
mod kubectl;
#[path = "../transcripts/mask.rs"]
mod mask;
#[path = "../running/mod.rs"]
mod running;
mod side_by_side;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use running::InMemory;
use tools::tool;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}{err}");
}

#[test]
fn the_python_client_works_unmodified() {
    let server = InMemory::apiserver();
    for session in ["session.py", "custom.py"] {
        let python = tool("python/bin").join("python3");
        succeeds(Command::new(python).arg(script(session)).env("KUBECONFIG", server.kubeconfig()));
    }
}

#[test]
fn the_javascript_client_works_unmodified() {
    let server = InMemory::apiserver();
    for session in ["session.mjs", "custom.mjs"] {
        let mut node = Command::new("node");
        node.arg(script(session)).env("KUBECONFIG", server.kubeconfig());
        succeeds(node.env("NODE_CLIENT", tool("node")));
    }
}
