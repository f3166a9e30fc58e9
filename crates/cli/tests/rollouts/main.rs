//! `gantry why`, `gantry rollout watch` and `gantry rollout history` as a person meets them: the real binary against a
//! real server, on which no controller runs, so that nothing moves but what the test moves. What a terminal shows is
//! seen in a real one, tmux.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod history;
mod rollout;
#[path = "../running/mod.rs"]
mod running;
mod tmux;
mod watching;
mod why;
