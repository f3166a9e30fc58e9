//! Field ownership: sets of paths, and their record in `metadata.managedFields`.
//!
//! Start with [`track_update`], which handles every write but apply; [`crate::apply`] builds on the same parts. Paths
//! and sets are plain data; the schema decides which parts of a value are owned separately.

mod compare;
mod described;
mod fields_of;
mod fields_v1;
mod managed;
mod owned_fields;
mod path;
mod reconcile;
mod scale;
mod set;
pub(crate) mod shape;
mod update;

pub use compare::{Comparison, compare, compare_written};
pub use fields_of::fields_of;
pub use managed::{Entry, Identity, ManagedFields, NotManaged, Operation};
pub use owned_fields::OwnedFields;
pub use path::{Malformed, PathElement, Scalar};
pub use scale::ReplicasField;
pub use set::{FieldNode, FieldSet};
pub use update::{Write, differ_only_in_times, never_tracked, track_update};

pub(crate) use reconcile::reconcile;
pub(crate) use update::{initial_owner, strip};
