//! The etcd backend against Debian's etcd-server.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests fail by panicking and print their seed")]

mod cluster;
mod compaction;
mod conformance;
mod crash;
mod etcd;
mod layout;
mod lost_responses;
mod messages;
mod proxy;
mod quota;
mod security;
