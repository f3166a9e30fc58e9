//! `gantry why`, `gantry rollout watch`, `gantry rollout history` and the verbs that observe a rollout (`diff`, `wait`,
//! `events`): the real binary against a real server without controllers, so that only the test changes objects. Terminal
//! output is captured from a real terminal, tmux; the output of commands that kubectl has, too, is compared with the
//! kubectl on the `PATH`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command_output;
mod diff;
mod events;
mod history;
mod proxy;
mod rollout;
#[path = "../running/mod.rs"]
mod running;
mod tmux;
mod waiting;
mod watching;
mod why;
