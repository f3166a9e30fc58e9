//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these.

mod definition;
mod pending;
mod structure;

pub use definition::{is_true, kinds_of, stored_kind_of};
pub use structure::{Basic, Lists, Maps, Structure, Values};

/// One edition of a definition: two that are equal say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edition {
    uid: String,
    generation: i64,
}

/// What is known of a custom kind beyond its names.
#[derive(Clone, Debug, Default)]
pub struct Custom {
    /// What its objects look like.
    pub structure: Structure,
    /// The version in which they are stored: `example.com/v1`.
    pub stored_as: &'static str,
    /// The edition of the definition.
    pub edition: Edition,
    /// Whether the definition is being deleted, and so are all objects.
    pub goes: bool,
    /// What whoever uses this version is told, if it is deprecated.
    pub deprecation: Option<String>,
}
