//! Authentication and authorization, over the API in process.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

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
