//! Bodies of requests and answers, as Kubernetes 1.37 took and wrote them, and any others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod any_object;
mod definition;
mod objects_max;
mod properties;
mod protobuf_writer;
mod recorded;
mod words;
