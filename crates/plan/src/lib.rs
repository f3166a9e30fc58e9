//! `gantry plan`: what a change of a Deployment will do, replayed in virtual time.
//!
//! - [`Recorder`] turns the objects of a running rollout into a [`Timeline`].
//! - [`Summary`] and [`steps`] compute what a person wants to know about it; [`Warning`] what they should be told.
//! - [`text`], [`json`], [`svg`] and [`html`] render one or several plans.
//!
//! *Invariant:* no terminal, no file, no clock. It observes a rollout and never counts what the rules count: the limits are
//! those of `gantry_decide`.

mod changes;
pub mod compare;
pub mod html;
pub mod json;
mod plan;
pub mod steps;
mod summary;
pub mod svg;
pub mod text;
mod time;
mod timeline;
mod warnings;
mod words;

pub use changes::changes;
pub use plan::{Ending, Observation, RolloutPlan, StrategyText};
pub use summary::{Extreme, Outage, Summary};
pub use timeline::{ConditionChange, Counts, Recorder, Sample, SetInfo, Timeline};
pub use warnings::Warning;
