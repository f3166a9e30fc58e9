//! Stories about the controllers over a server in the same process, with a clock that the test controls.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod budgets;
mod clock_steps;
mod cluster;
mod custom;
mod deletion;
mod endpoints;
mod interruptions;
mod joining;
mod namespace_defaults;
mod nodes;
mod roles;
mod rollouts;
mod wire;
