//! The verbs of kubectl, as a client of any Kubernetes server.
//!
//! A [`ClientContext`] holds the connection to one server and the output streams. The verbs take a context and their
//! options, and print what kubectl 1.37 prints. Patches, printers and descriptions are pure.
//!
//! ```text
//! argv (elsewhere) ─► verbs ─► arguments, manifests ─► client_context ─► server
//!                       └────► print, describe, explain, three_way (pure)
//! ```
//!
//! *Invariant:* nothing here depends on which server it talks to, and only `client_context` and `connection` do I/O with
//! it.

mod arguments;
pub mod candidates;
mod client_context;
mod connection;
mod connection_error;
#[expect(
    clippy::format_push_string,
    reason = "the lines of a text stand as they are printed, not behind `write!`"
)]
mod describe;
#[expect(clippy::format_push_string, reason = "as in `describe`")]
mod explain;
mod failure;
mod field;
mod manifests;
mod print;
mod resources;
mod selection;
mod three_way;
pub mod verbs;
mod workload;

pub use client_context::{ClientContext, OutputStreams};
pub use connection::{Connection, ImplicitContext, KubeconfigEntry, TlsVerification};
pub use failure::{Failure, StatusError};
pub use gantry_client::PatchForm;
pub use manifests::{Manifest, ManifestOptions, read as read_manifests};
pub use resources::{ApiResource, Resources};
pub use selection::Selection;
