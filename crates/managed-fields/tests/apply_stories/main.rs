//! Server-side apply and ownership as small stories: times, owners, conflicts and refusals that no recording contains.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod compiled_in;
mod custom;
mod story;
