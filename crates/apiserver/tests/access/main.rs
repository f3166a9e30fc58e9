//! Authentication and authorization, over the API in process.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod authentication;
mod cluster;
mod escalation;
mod impersonation;
mod joining;
mod nodes;
mod policy;
mod reviews;
mod slow_watch;
mod tokens;
