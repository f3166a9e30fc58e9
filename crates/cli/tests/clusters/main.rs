//! Named clusters: started, listed, stopped, killed, deleted, and temporary ones. The real binary, with a temporary home
//! directory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;
mod detached;
mod implicit_context;
mod named;
mod recipes;
#[path = "../running/mod.rs"]
mod running;
mod starting;
mod user_home;
