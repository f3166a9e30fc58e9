//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these.

mod definition;
mod pending;
mod structure;

use serde_json::Value;

pub use definition::{is_true, kinds_of};
pub use structure::{Basic, Lists, Maps, Structure, Values};

/// What is known of a custom kind beyond its names.
#[derive(Clone, Debug, Default)]
pub struct Custom {
    /// What its objects look like.
    pub structure: Structure,
    /// The same as somebody wrote it, to be published: `openAPIV3Schema`.
    pub schema: Value,
    /// The version in which they are stored: `example.com/v1`.
    pub stored_as: &'static str,
    /// The name of the definition.
    pub definition: String,
    /// Whether the definition is being deleted, and so are all objects.
    pub goes: bool,
    /// What whoever uses this version is told, if it is deprecated.
    pub deprecation: Option<String>,
}
