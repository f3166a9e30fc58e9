//! Stories of a user at a terminal, checked against kubectl's rules: every verb over an in-process API server, with
//! controllers where a story needs them. All output and all requests are captured.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod apply;
mod conventions;
mod deleting;
mod describing;
mod getting;
mod rollouts;
mod scaling;
#[path = "../shared_buffer/mod.rs"]
mod shared_buffer;
mod terminal;
mod watching;
mod wire;
