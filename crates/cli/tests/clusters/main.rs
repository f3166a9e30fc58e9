//! Clusters by name, as a person meets them: started, listed, stopped, killed, deleted, and thrown away by pipelines. The
//! real binary in a home directory of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod around;
mod by_default;
mod detached;
mod named;
mod person;
mod recipes;
#[path = "../running/mod.rs"]
mod running;
mod starting;
