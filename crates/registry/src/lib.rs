//! What the API does to an object, before it is stored and after it was read.
//!
//! Objects are JSON values here, and what is known of their shape is data: the [`schema`] has every field of every
//! kind that is served, with its type, its protobuf number, whether zero and absent are the same, and how lists of it
//! merge. Everything else walks a value along the schema, so that adding a kind is adding rows to a table.
//!
//! *Invariant:* this crate knows neither HTTP nor storage, no clock and no randomness: names, uids and times are passed
//! in. What it refuses, it refuses with the words of Kubernetes' own API.

pub mod access;
pub mod admission;
pub mod apply;
pub mod base64url;
mod cel;
pub mod conversion;
pub mod custom;
pub mod decode;
pub mod defaults;
pub mod empties;
pub mod encode;
pub mod jsonpath;
pub mod kinds;
pub mod lifecycle;
mod moment;
pub mod openapi;
pub mod ownership;
pub mod paging;
pub mod patch;
pub mod pods;
pub mod quantity;
mod refusal;
pub mod schema;
pub mod selector;
pub mod strategies;
pub mod table;
pub mod target;
pub mod validation;

pub use moment::Moment;
pub use refusal::{Cause, Details, FieldError, Refusal, Wrong};
