//! JSON values that are small and cheap to clone.
//!
//! Every request to the API decodes, copies, compares and encodes objects as [`Value`]s. The interface is that of
//! `serde_json`'s values. They differ in how they are stored: strings of up to 23 bytes, which nearly all keys and most values are,
//! need no allocation, and the members of an object are shared by its clones until one of them changes, so that a
//! clone is one reference count and two clones compare as fast as two pointers. See decision 0045.
//!
//! Text is parsed and written by `serde_json`.

mod deserialize;
mod entry;
mod index;
mod macros;
mod map;
mod members;
mod serialize;
mod serializer;
mod value;

pub use serde_json::{Error, Number, Result, from_str, to_string, to_string_pretty, to_vec};
pub use smol_str::SmolStr;

pub use deserialize::{from_slice, from_value};
pub use entry::MapEntry;
pub use index::Index;
pub use map::Map;
pub use serializer::to_value;
pub use value::Value;
