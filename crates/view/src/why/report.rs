//! What `gantry why` finds out, as data.

use gantry_decide::deployment::Deadline;
use gantry_model::{Limit, Name, ObjectKey, Replicas, Timestamp};

use super::commands::Advice;
use super::reason::Reason;
use crate::span::Style;

/// Why a rollout is where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Whose rollout.
    pub deployment: ObjectKey,
    /// When this was found out.
    pub now: Timestamp,
    /// In one word.
    pub verdict: Verdict,
    /// In one sentence.
    pub headline: String,
    /// The revision that is rolled out, if the controller has numbered it.
    pub revision: Option<i64>,
    /// Whether the controller has reported this revision as completely rolled out.
    pub rolled_out: bool,
    /// How many pods there are of each sort.
    pub pods: Pods,
    /// The limits of a rolling update; other strategies have none.
    pub budget: Option<Budget>,
    /// When the lack of progress is, or was, reported.
    pub deadline: Deadline,
    /// How many seconds may pass without progress.
    pub deadline_seconds: Option<i32>,
    /// Everything that plays a part: what blocks, then what waits, then notes.
    pub causes: Vec<Cause>,
    /// What a person could do about it.
    pub unblock: Vec<Advice>,
}

/// A rollout in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that is wanted is there.
    Done,
    /// It goes on by itself.
    Moving,
    /// It does not, unless something changes.
    Stuck,
    /// It is on hold until it is resumed.
    Paused,
}

/// How many pods a rollout has of each sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pods {
    /// Those the user wants.
    pub wanted: Replicas,
    /// Those of the present template.
    pub updated: Replicas,
    /// Those that are ready, of any template.
    pub ready: Replicas,
    /// Those that have been ready for long enough.
    pub available: Replicas,
    /// Those of earlier templates.
    pub old: Replicas,
}

/// The limits of a rolling update and what there is of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// `maxSurge` as it is written.
    pub max_surge: Limit,
    /// `maxUnavailable` as it is written.
    pub max_unavailable: Limit,
    /// The most pods there may be.
    pub most: i64,
    /// The fewest that must be available.
    pub least: i64,
    /// Pods that are wanted, over all ReplicaSets.
    pub pods: i64,
    /// Pods that are available.
    pub available: i64,
    /// The limits that keep the rollout from its next step.
    pub held: Vec<Held>,
}

/// A limit that keeps a rollout from its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// No pod may be added.
    Surge,
    /// No pod may be taken away.
    Availability,
}

/// One thing that plays a part in where a rollout is.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// What it is.
    pub reason: Reason,
    /// What it means for the rollout.
    pub weight: Weight,
    /// The ReplicaSet concerned, if it is one.
    pub set: Option<Name>,
    /// The pods concerned.
    pub pods: Vec<Name>,
    /// What the cluster says about it.
    pub message: Option<String>,
}

/// What a cause means for a rollout; ordered by what a person should read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It stays until something is changed.
    Blocks,
    /// It passes by itself.
    Waits,
    /// It is good to know.
    Notes,
}

impl Report {
    /// All of it in one sentence: whose rollout, how it goes, and why.
    pub fn sentence(&self) -> String {
        format!("{} is {}: {}", self.title(), self.verdict.as_str(), self.headline)
    }

    /// Whose rollout, such as `deployment/web`.
    pub fn title(&self) -> String {
        format!("deployment/{}", self.deployment.name)
    }
}

impl Verdict {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Moving => "moving",
            Self::Stuck => "stuck",
            Self::Paused => "paused",
        }
    }

    /// How it is to be shown.
    pub fn style(self) -> Style {
        match self {
            Self::Done => Style::Good,
            Self::Moving => Style::Busy,
            Self::Stuck => Style::Bad,
            Self::Paused => Style::Strong,
        }
    }
}

impl Weight {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Waits => "waits",
            Self::Notes => "notes",
        }
    }
}

impl Held {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Surge => "surge",
            Self::Availability => "availability",
        }
    }
}

impl Cause {
    /// A cause that is about no pod in particular.
    pub(super) fn new(weight: Weight, reason: Reason) -> Self {
        Self { reason, weight, set: None, pods: Vec::new(), message: None }
    }

    pub(super) fn of_set(mut self, set: &Name) -> Self {
        self.set = Some(set.clone());
        self
    }

    pub(super) fn saying(mut self, message: &str) -> Self {
        let message = crate::words::one_line(message);
        self.message = (!message.is_empty()).then_some(message);
        self
    }
}
