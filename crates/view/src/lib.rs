//! What people are shown of a rollout: reports, frames and lines, from what the rules say about a Deployment.
//!
//! - [`Snapshot`]: a Deployment with its ReplicaSets, pods and events, as any Kubernetes cluster hands them out.
//! - [`why`]: why the rollout is where it is, as a [`why::Report`], its text and its JSON.
//! - [`live`]: one frame of `gantry rollout watch`, and the lines it prints without a terminal.
//! - [`Waiting`]: when `gantry why --wait` and `gantry rollout watch` end.
//!
//! The reasons are those of the controllers: [`Standing`] runs `decide` on the snapshot and puts beside it what pods
//! and events complain of. So it works on Deployments that Gantry does not run, too.
//!
//! *Invariant:* no terminal, no HTML, no client, no clock. `now` is passed in, and a style is a word, not a colour code.

pub mod live;
mod snapshot;
mod span;
mod standing;
mod waiting;
pub mod why;
mod words;

pub use snapshot::{
    Container, ContainerRole, ContainerState, EventSeen, Exit, Listing, NodeSeen, Objects, PodSeen, Probe,
    Scheduling, Snapshot,
};
pub use span::{Line, Span, Style};
pub use standing::{SetRole, SetStanding, Standing};
pub use waiting::{Next, Waiting};
