//! Named clusters: started, listed, stopped, killed, deleted, and temporary ones. The real binary, with a temporary home
//! directory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod command;
mod detached;
mod implicit_context;
mod named;
mod recipes;
#[path = "../running/mod.rs"]
mod running;
mod starting;
mod user_home;
