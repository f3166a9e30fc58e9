//! The etcd backend against Debian's etcd-server.

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
