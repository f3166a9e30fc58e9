//! Clients of a scripted server: the tests check every request and choose every response.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod events;
mod informers;
mod protobuf;
mod script;
mod sharing;
mod writes;
