//! Formats of Go and Kubernetes, each parsed and printed in one place, with the error messages of the original.
//!
//! [`text_enum`] declares an enum whose variants have a text each.
//!
//! *Invariant:* a leaf: it has no objects and depends on no other crate of the workspace.

pub mod base64;
pub mod bootstrap_token;
pub mod duration;
pub mod percent;
pub mod protobuf;
pub mod quantity;
pub mod rfc3339;
mod text_enum;
pub mod uuid;
pub mod websocket;
