//! The client of an API server that informers, controllers and commands share.
//!
//! - [`ApiRequest`]: a request, built without sending it.
//! - [`ApiClient`]: sends requests; timeouts, and the retries that a server asks for.
//! - [`RequestError`]: a request without the regular response, classified.
//! - [`WatchLines`]: the lines of a watch.
//! - [`WriteFence`], [`fenced_client`]: stop the writes of a process that may have lost its lease.
//!
//! Configuration, TLS and the connection are `kube`'s.
//!
//! *Invariant:* no caches, no output and no decisions.

mod client;
mod error;
mod fenced_client;
mod lines;
mod request;
mod transport;
mod write_fence;

pub use client::{ApiClient, ApiResponse};
/// How an API server is to read a patch.
pub use gantry_model::patch::PatchForm;

pub use error::{RequestError, error_chain};
pub use fenced_client::fenced_client;
pub use lines::WatchLines;
pub use request::{
    ApiRequest, DISCOVERY, METADATA, METADATA_LIST, OBJECTS, RequestBody, TABLE, collection_path,
};
pub use transport::Transport;
pub use write_fence::{FenceClosed, WriteFence};
