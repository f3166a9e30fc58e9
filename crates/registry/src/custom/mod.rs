//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these. An object that comes in is
//! pruned to what is declared, filled with defaults, and judged.

mod alternatives;
mod embedded;
mod fill;
mod formats;
mod judge;
mod lists;
mod numbers;
mod outcome;
mod pattern;
mod prune;
mod rules;
mod structure;
mod texts;

pub use pattern::check_pattern;
pub use rules::Rules;
pub use structure::{Basic, Lists, Maps, Structure, Values};
