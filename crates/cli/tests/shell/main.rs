//! `gantry` as somebody meets it who types: completions in real shells, mistakes, flags of the connection, and what is
//! said when a server cannot be talked to. The real binary against a real server; shells run in tmux.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod certificates;
mod colours;
mod completion;
mod connection;
mod desk;
mod mistakes;
#[path = "../running/mod.rs"]
mod running;
#[allow(dead_code, reason = "these tests need less of a terminal than the live view")]
#[path = "../rollouts/tmux.rs"]
mod tmux;
mod trouble;
