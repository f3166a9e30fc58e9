//! Stories of people at a terminal, held to kubectl's rules: every verb over the API server in process, with the controllers
//! at work where a story needs them, and everything captured that is printed or sent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

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
