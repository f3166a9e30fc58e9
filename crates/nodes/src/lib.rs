//! Simulated nodes: the lives of pods as a kubelet would report them, without running anything.
//!
//! ```text
//! behaviour (profile, annotations) ─► life: what goes on in a pod ─► wards: reports it, tells events, removes the pod
//! machine: what a node is          ─► pulse: registers it, renews its lease, reports that it is well
//! ```
//!
//! [`behaviour`], [`life`], `machine`, `addresses` and `report` are pure: they say what happens, and when. The shells
//! around them are two work queues, one of pods and one of nodes, for all nodes together: a thousand nodes cost no more
//! tasks than one. What pods depend on is read when they need it (`lookups`). Nothing is kept but in the API: after a
//! restart every life goes on from what was reported of it.
//!
//! *Invariant:* only pods on the nodes of this process are touched, and a write always names the uid it means.

mod addresses;
pub mod behaviour;
pub mod life;
mod lookups;
mod machine;
mod options;
mod pulse;
mod report;
mod run;
mod station;
mod wards;

pub use options::{Capacity, InvalidOptions, Options};
pub use run::run;
