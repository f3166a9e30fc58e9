//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these.

pub(crate) mod approval;
pub(crate) mod certificates;
pub(crate) mod condition;
pub mod naming;
mod structure;

/// The finalizer that holds a definition until its objects are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

pub use structure::{Basic, Lists, Maps, Structure, Values};
