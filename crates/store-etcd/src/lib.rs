//! The store's port on etcd, in the key layout of Kubernetes.
//!
//! Keys and values pass through unchanged: an API server that writes JSON under
//! `/registry/<resource>/<namespace>/<name>` stores in etcd what a kube-apiserver with `--etcd-prefix=/registry` and
//! JSON storage reads, and revisions are etcd's own. Start at [`EtcdStore`]; `write` and `mark` prevent lost
//! connections from losing or repeating a write.
//!
//! ```text
//! EtcdStore ── read, write ── cluster ── members ── (one HTTP/2 connection to one member at a time)
//!     │           └─ mark                  │
//!     ├── watch ── feed                  fault (what an error means), rpc, wire (the protocol)
//!     └── compactor
//! ```
//!
//! This crate also stores in etcd, besides the caller's keys:
//! - `!gantry/…`, a few bytes per concurrent writer, see `mark`. Keys that sort before `!gantry0` are therefore not
//!   the caller's: lists and watches do not show them, writes to them are refused.
//! - `compact_rev_key`, the key by which kube-apiservers elect a compactor.
//!
//! A user restricted by etcd's roles needs both, next to `/registry/`; and with an etcd before 3.4.25 or 3.5.8, whose
//! progress responses cannot be used, everything from `!gantry/` to `/registry0`, because watches are widened to it.
//!
//! Absent on purpose: files (certificates come in as PEM), Kubernetes types, any other backend.

mod cluster;
mod compactor;
mod convert;
mod fault;
mod feed;
mod keyspace;
mod mark;
mod members;
mod read;
mod rpc;
mod settings;
mod store;
mod watch;
mod wire;
mod write;

#[cfg(test)]
extern crate self as gantry_store_etcd;
#[cfg(test)]
#[path = "../tests/it/etcd.rs"]
#[allow(dead_code, reason = "unit tests need an etcd, but not everything other tests do with it")]
mod etcd;

pub use settings::{BadSettings, Credentials, LostAnswers, ProgressMarks, Settings, Tls};
pub use store::EtcdStore;
