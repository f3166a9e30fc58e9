//! Definitions of custom kinds: their defaults, validation and lifecycle.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod fixture;
mod lifecycle;
mod naming;
mod schemas;
mod specs;
mod updates;
