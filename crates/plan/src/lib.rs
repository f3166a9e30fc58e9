//! `gantry plan`: the effects of a change of a Deployment, replayed in virtual time.
//!
//! - [`Recorder`] turns the objects of a running rollout into a [`Timeline`].
//! - [`Summary`] and [`steps`] summarize it for users; [`Warning`] is what they should know before they apply it.
//! - [`text`], [`json`], [`svg`] and [`html`] render one or several plans.
//!
//! *Invariant:* no terminal, no file, no clock. It observes a rollout and repeats no computation of the rules: the
//! limits are those of `gantry_decide`.

mod assumptions;
mod changes;
mod cluster_capacity;
pub mod compare;
mod copies;
mod dependencies;
pub mod html;
mod import;
pub mod json;
mod phrases;
mod plan;
mod replay;
mod start_state;
pub mod steps;
mod summary;
pub mod svg;
pub mod text;
mod time;
mod timeline;
mod variant;
mod warnings;

pub use assumptions::Assumptions;
pub use changes::changes;
pub use import::ClusterObjects;
pub use plan::{Observation, RolloutEnding, RolloutPlan, StrategyText};
pub use replay::{ReplayError, ReplayRequest, StartState, replay};
pub use summary::{Extreme, Outage, Summary};
pub use timeline::{ConditionChange, Counts, Recorder, SetInfo, SizeChange, Timeline, TimelineSample};
pub use variant::Variant;
pub use warnings::Warning;
