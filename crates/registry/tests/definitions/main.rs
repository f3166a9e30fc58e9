//! Definitions of custom kinds: their defaults, validation and lifecycle.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod fixture;
mod lifecycle;
mod naming;
mod schemas;
mod specs;
mod updates;
