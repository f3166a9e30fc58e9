//! The messages of CRI `runtime.v1` that are sent and read, with the protocol's names and field numbers.
//!
//! Written from the protocol's definition, as for etcd (decision 0012), so that building needs no `protoc`; unused
//! fields are omitted, which protobuf allows.

mod container;
mod image;
mod sandbox;
mod stats;

pub use container::*;
pub use image::*;
pub use sandbox::*;
pub use stats::*;
