//! Decoding and encoding: compared with requests and responses of Kubernetes 1.37, and with random input.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod any_object;
mod definition;
mod messages;
mod objects_max;
mod properties;
mod protobuf_writer;
mod recorded;
