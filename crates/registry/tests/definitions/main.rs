//! Definitions of custom kinds: what they mean where they say nothing, which are refused, and what becomes of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod fixture;
mod lifecycle;
mod naming;
mod schemas;
mod specs;
mod updates;
