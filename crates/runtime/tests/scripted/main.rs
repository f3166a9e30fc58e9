//! Clients of a scripted server: every request is checked, every response is chosen.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod events;
mod informers;
mod protobuf;
mod script;
mod sharing;
mod writes;
