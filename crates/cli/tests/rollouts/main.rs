//! `gantry why`, `gantry rollout watch` and the verbs that look at a rollout from outside (`diff`, `wait`, `events`) as a
//! person meets them: the real binary against a real server, on which no controller runs, so that nothing moves but what the
//! test moves. The live view runs in a real terminal, tmux; what kubectl has too is compared with the one on the `PATH`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod diff;
mod events;
mod proxy;
mod rollout;
#[path = "../running/mod.rs"]
mod running;
mod said;
mod tmux;
mod waiting;
mod watching;
mod why;
