//! The etcd backend against Debian's etcd-server.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and prints its seed"
)]

mod cluster;
mod compaction;
mod conformance;
mod crash;
mod etcd;
mod layout;
mod lost_answers;
mod proxy;
mod quota;
mod security;
mod words;
