//! Clients of a server that follows a script: every request is looked at, every answer is chosen.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod events;
mod informers;
mod script;
mod writes;
