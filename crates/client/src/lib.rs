//! The client of an API server that informers, controllers and commands share.
//!
//! - [`ApiRequest`]: a request, built without sending it.
//! - [`ApiClient`]: sends requests; timeouts, and the retries that a server requests.
//! - [`RequestError`]: a request without the regular response, classified.
//! - [`WatchLines`]: the lines of a watch.
//! - [`StreamConnection`]: streams to and from a container, over one connection.
//! - [`ApiTransport`]: how requests reach a server, with the connections of a [`ClientConfig`] or in the same process.
//! - [`forward`], [`forward_with_body`]: pass a request on to another server, upgraded connections too.
//! - [`WriteFence`]: stops the writes of a process that may have lost its lease.
//!
//! *Invariant:* no caches, no output and no decisions.

mod client;
mod connection;
mod error;
mod lines;
mod protobuf_status;
mod request;
mod spdy;
mod transport;
mod write_fence;

pub use client::{ApiClient, ApiResponse, ResponseChunks};
pub use connection::{
    ClientConfig, ClientIdentity, ConfigError, ExecCredentials, ExecPlugin, RequestCredentials, ServerTrust,
    forward, forward_with_body,
};
/// How an API server is to read a patch.
pub use gantry_model::patch::PatchForm;

/// The failures that callers distinguish.
pub use gantry_model::RefusalKind;

pub use error::{NoneIf, RequestError, error_chain, kind_of_status};
pub use lines::WatchLines;
pub use request::{
    ApiRequest, DISCOVERY, METADATA, METADATA_LIST, OBJECTS, PROTOBUF, RequestBody, TABLE, collection_path,
};
pub use spdy::{ByteReader, ByteStream, ByteWriter, StreamConnection};
pub use transport::{ApiTransport, ResponseBody};
pub use write_fence::{FenceClosed, WriteFence};
