//! How pods behave: data, not code.
//!
//! A behaviour is put together from three layers, each of which may say something about every trait:
//!
//! ```text
//! the default profile  <  rules by image, in their order  <  annotations of the pod (sim.gantry.dev/...)
//! ```
//!
//! A profile is a YAML or JSON file, see [`Profile::read`]; the names of the traits are the same in files and in
//! annotations, see [`Traits::set`].

mod dice;
mod profile;
mod span;
mod traits;

pub(crate) use dice::Dice;
pub use profile::{InvalidProfile, Profile};
pub use span::Span;
pub use traits::{InvalidTrait, Pull, Ready, Traits};

/// Annotations of a pod that begin so say how it behaves.
pub const ANNOTATION_PREFIX: &str = "sim.gantry.dev/";
