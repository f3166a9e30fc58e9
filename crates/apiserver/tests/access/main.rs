//! Who somebody is and what they may do, over the API in process.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod cluster;
mod handing_out;
mod identity;
mod lagging;
mod policy;
mod pretence;
mod reviews;
mod tokens;
