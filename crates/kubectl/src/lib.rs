//! What kubectl does, as a client of any Kubernetes server.
//!
//! A [`Session`] is somebody at a terminal who talks to one server. The verbs take a session and what was asked, and
//! print what kubectl 1.37 prints. What is worth thinking about is pure: patches, printers, descriptions.
//!
//! ```text
//! argv (elsewhere) ─► verbs ─► arguments, manifests ─► session ─► server
//!                       └────► print, describe, explain, three_way (pure)
//! ```
//!
//! *Invariant:* nothing here knows which server it talks to, and nothing outside `session` and `connection` does I/O
//! with it.

mod arguments;
mod call;
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

pub use call::PatchKind;
pub use client_context::{ClientContext, OutputStreams};
pub use connection::{Connection, ImplicitContext, KubeconfigEntry, TlsVerification};
pub use connection_error::explain as explain_connection_error;
pub use failure::{Failure, StatusError};
pub use resources::{Resource, Resources};
pub use selection::Selection;
