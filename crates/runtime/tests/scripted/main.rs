//! Clients of a scripted server: the tests check every request and choose every response.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod events;
mod informers;
mod protobuf;
mod script;
mod sharing;
mod writes;
