//! `gantry why`, `gantry rollout watch`, `gantry rollout history` and the verbs that look at a rollout from outside
//! (`diff`, `wait`, `events`): the real binary against a real server without controllers, so that only the test changes
//! objects. What a terminal shows is seen in a real one, tmux; what kubectl has too is
//! compared with the one on the `PATH`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod diff;
mod events;
mod history;
mod proxy;
mod rollout;
#[path = "../running/mod.rs"]
mod running;
mod said;
mod tmux;
mod waiting;
mod watching;
mod why;
