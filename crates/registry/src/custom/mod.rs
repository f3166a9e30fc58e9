//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these.

mod structure;

use serde_json::Value;

pub use structure::{Basic, Lists, Maps, Structure, Values};

/// What is known of a custom kind beyond its names.
#[derive(Clone, Debug, Default)]
pub struct Custom {
    /// What its objects look like.
    pub structure: Structure,
    /// The same as somebody wrote it, to be published: `openAPIV3Schema`.
    pub schema: Value,
}
