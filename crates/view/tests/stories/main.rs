//! Stories of rollouts: the state of the cluster, and what is reported about it.

#![allow(clippy::unwrap_used, reason = "a story fails by panicking")]

mod advice;
mod missing;
mod moving;
mod pages;
mod pod_problems;
mod rules_hold;
mod screens;
mod waiting;
mod world;
