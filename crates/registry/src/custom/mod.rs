//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these.

mod columns;
mod paths;
mod scaling;
mod structure;

pub use columns::Columns;
pub use paths::{FieldPath, Misfit};
pub use scaling::Scaling;
pub use structure::{Basic, Lists, Maps, Structure, Values};
