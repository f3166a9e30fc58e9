//! Formats of Go and Kubernetes, each parsed and printed in one place, with the error messages of the original.
//!
//! *Invariant:* a leaf: it knows no object and no other crate of the workspace.

pub mod base64;
pub mod bootstrap_token;
pub mod duration;
pub mod percent;
pub mod protobuf;
pub mod quantity;
pub mod rfc3339;
pub mod uuid;
pub mod websocket;
