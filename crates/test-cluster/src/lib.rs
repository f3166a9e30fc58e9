//! Clusters for tests: an API server in process, and a namespace in which the test acts as user and as kubelet.
//!
//! Only a dev-dependency, like `testkit`, which has builders of objects and needs no server.

#![allow(clippy::missing_panics_doc, reason = "a failed request fails the test")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed request fails the test")]

mod kubelet;
mod names;
mod namespace;
mod server;

pub use kubelet::is_ready;
pub use namespace::{ErrorResponse, PatchType, Terminations, TestNamespace};
pub use server::TestServer;
