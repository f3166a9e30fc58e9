//! Values of single fields: how Kubernetes parses, validates and prints them, and the errors about them.
//!
//! Timestamps, names, patterns and text formats are parsed here; [`Refusal`] and [`FieldError`] are
//! the errors of the API with Kubernetes' wording, and [`Path`] is the path of the field in a [`FieldError`].
//!
//! *Invariant:* this crate has no objects, kinds or schemas: every function takes one value.

pub mod age;
pub mod go_print;

pub mod names;
mod path;
mod pattern;
pub mod refusal;
mod status_reason;
pub mod text_formats;
mod timestamp;

pub use path::Path;
pub use pattern::{Pattern, Patterns, check_pattern};
pub use refusal::{Cause, Details, FieldError, Refusal, Wrong};
pub use status_reason::StatusReason;
pub use timestamp::Timestamp;
