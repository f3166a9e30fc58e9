//! Scenarios: what users, crashes and nodes do to a simulated cluster, and how its connections fail, as a value.
//!
//! A seed is turned into a [`SimScenario`] first. It can be printed, played again and made smaller; the seed then only
//! decides the rest: uids, delays, and which request a fault hits.

mod generate;
mod journal;
mod minimise;
mod play;
mod step;

pub use minimise::minimise;
pub use play::{Played, play, play_with_journal};
pub use step::{SimStep, TimedStep};

use std::fmt;
use std::time::Duration;

use crate::{Faults, SimScope};

/// The steps and faults of a simulated cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimScenario {
    /// Decides what the scenario does not determine.
    pub seed: u64,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of replicas of the controllers.
    pub replicas: usize,
    /// The faults of connections, until the end of the steps.
    pub faults: Faults,
    /// The steps, in order.
    pub steps: Vec<TimedStep>,
    /// How long the faults last.
    pub duration: Duration,
    /// How long nothing may be written in the end.
    pub rest: Duration,
    /// The scope of the controllers.
    pub scope: SimScope,
    /// The steps of pods happen at multiples of this duration; zero for any time.
    pub resolution: Duration,
    /// The `progressDeadlineSeconds` of Deployments; `None` for the default. A rollout that misses it is checked before
    /// it is healed.
    pub deadline_seconds: Option<u32>,
}

impl fmt::Display for SimScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            nodes,
            replicas,
            faults,
            steps,
            duration,
            rest,
            scope,
            resolution,
            deadline_seconds,
        } = self;
        let (duration, rest) = (duration.as_secs(), rest.as_secs());
        writeln!(
            f,
            "seed {seed}, {nodes} nodes, {replicas} controllers, {duration} s, then {rest} s of rest, {scope:?}, pods change every {resolution:?}"
        )?;
        if let Some(seconds) = deadline_seconds {
            writeln!(f, "progressDeadlineSeconds: {seconds}")?;
        }
        writeln!(f, "{faults:?}")?;
        for step in steps {
            writeln!(f, "{step}")?;
        }
        Ok(())
    }
}
