//! Completions in real shells, usage errors, connection flags and connection errors: the real binary against a real server;
//! shells run in tmux.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod certificates;
mod colours;
mod completion;
mod connection;
mod connection_errors;
#[path = "../running/mod.rs"]
mod running;
mod shell_env;
#[allow(dead_code, reason = "these tests need less of a terminal than the live view")]
#[path = "../rollouts/tmux.rs"]
mod tmux;
mod usage_errors;
