//! The behaviour of pods, as data.
//!
//! It is merged from three layers, each of which may set any trait:
//!
//! ```text
//! the default profile  <  rules by image, in their order  <  annotations of the pod (sim.gantry.dev/...)
//! ```
//!
//! A profile is a YAML or JSON file, see [`Profile::read`]; the names of the traits are the same in files and in
//! annotations, see [`Traits::set`].

mod duration_range;
mod profile;
mod traits;

pub use duration_range::DurationRange;
pub use profile::{InvalidProfile, Profile};
pub use traits::{InvalidTrait, Pull, Ready, Traits};

/// The prefix of annotations that set traits.
pub const ANNOTATION_PREFIX: &str = "sim.gantry.dev/";
