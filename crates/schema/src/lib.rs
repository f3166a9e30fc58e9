//! The schema of objects: every field of every kind that is served, and their decoding and encoding.
//!
//! Objects are JSON values, and their shape is data: [`schema`] has every field of the built-in kinds with its type,
//! its protobuf number, whether zero and absent are the same, and how its lists merge; [`kinds`] has every served
//! resource. [`custom`] reads both from a CustomResourceDefinition. [`decode`] and [`encode`] convert between objects
//! and JSON, YAML and protobuf.
//!
//! *Invariant:* this crate changes no object on behalf of a request: defaults, admission and lifecycle are elsewhere,
//! and so is validation, except by a declared schema.

pub mod custom;
pub mod decode;
pub mod empties;
pub mod encode;
pub mod jsonpath;
pub mod kinds;
pub mod schema;
mod semantic_equality;

pub use semantic_equality::semantically_equal;
