//! Stories of rollouts: what the cluster looks like, and what people are told about it.

#![allow(clippy::unwrap_used, reason = "a story that cannot be told should say so and stop")]

mod advice;
mod missing;
mod moving;
mod pages;
mod pods_complain;
mod rules_hold;
mod screens;
mod waiting;
mod world;
