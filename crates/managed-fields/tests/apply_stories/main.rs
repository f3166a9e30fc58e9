//! Server-side apply and ownership as small stories: times, owners, conflicts and refusals that no recording contains.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod compiled_in;
mod custom;
mod story;
