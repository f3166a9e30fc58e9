//! Views of a rollout: reports, frames and log lines, computed from the rules' decision about a Deployment.
//!
//! - [`Snapshot`]: a Deployment with its ReplicaSets, pods and events, as read from any Kubernetes cluster.
//! - [`why`]: the reasons for the state of a rollout, as a [`why::Report`], its text and its JSON.
//! - [`live`]: one frame of `gantry rollout watch`, and the lines it prints without a terminal.
//! - [`WaitPolicy`]: when `gantry why --wait` and `gantry rollout watch` end.
//!
//! The reasons are those of the controllers: [`RolloutState`] runs `decide` on the snapshot and adds the problems
//! that pods and events report. So it works on Deployments that Gantry does not run, too.
//!
//! *Invariant:* no terminal, no HTML, no client, no clock. `now` is passed in, and a style is a word, not a colour
//! code.

mod formatting;
pub mod live;
mod rollout_state;
mod snapshot;
mod span;
mod waiting;
pub mod why;

pub use formatting::count;
pub use rollout_state::{ReplicaSetState, RolloutState, SetRole};
pub use snapshot::{
    ApiObjects, Container, ContainerRole, ContainerState, Exit, Listing, ObservedEvent, ObservedNode,
    ObservedPod, Probe, Scheduling, Snapshot,
};
pub use span::{Line, Span, Style};
pub use waiting::{WaitDecision, WaitPolicy};
