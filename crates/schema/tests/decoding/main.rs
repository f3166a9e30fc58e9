//! Decoding and encoding: compared with requests and responses of Kubernetes 1.37, and with random input.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod any_object;
mod definition;
mod objects_max;
mod properties;
mod protobuf_writer;
mod recorded;
mod words;
