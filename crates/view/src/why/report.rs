//! The result of `gantry why`, as data.

use gantry_decide::deployment::Deadline;
use gantry_model::{Limit, Name, ObjectKey, Replicas, Timestamp};

use super::commands::Advice;
use super::reason::Reason;
use crate::span::Style;

/// The reasons for the state of a rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The Deployment.
    pub deployment: ObjectKey,
    /// When the report was made.
    pub now: Timestamp,
    /// The state of the rollout in one word.
    pub verdict: Verdict,
    /// The state of the rollout in one sentence.
    pub headline: String,
    /// The revision that is rolled out, if it has a number.
    pub revision: Option<i64>,
    /// Whether the controller has reported this revision as complete.
    pub rolled_out: bool,
    /// The numbers of pods.
    pub pods: Pods,
    /// The limits of a rolling update; other strategies have none.
    pub budget: Option<Budget>,
    /// The progress deadline.
    pub deadline: Deadline,
    /// `spec.progressDeadlineSeconds`.
    pub deadline_seconds: Option<i32>,
    /// Blocking causes, then waiting ones, then notes.
    pub causes: Vec<Cause>,
    /// What a user can do about it.
    pub unblock: Vec<Advice>,
}

gantry_model::text_enum! {
    /// A rollout in one word.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verdict {
        /// The rollout is complete.
        Done = "done",
        /// It progresses by itself.
        Moving = "moving",
        /// It does not progress unless something is changed.
        Stuck = "stuck",
        /// It is paused.
        Paused = "paused",
    }

    /// Its name in reports.
    pub fn as_str(self) -> &'static str;
}

/// The pods of a rollout, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pods {
    /// `spec.replicas`.
    pub wanted: Replicas,
    /// Pods of the current template.
    pub updated: Replicas,
    /// Ready pods, of any template.
    pub ready: Replicas,
    /// Available pods, of any template.
    pub available: Replicas,
    /// Pods of earlier templates.
    pub old: Replicas,
}

/// The limits of a rolling update and their usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// `maxSurge` as written.
    pub max_surge: Limit,
    /// `maxUnavailable` as written.
    pub max_unavailable: Limit,
    /// The maximum number of pods.
    pub most: i64,
    /// The minimum number of available pods.
    pub least: i64,
    /// The sum of the sizes of all ReplicaSets.
    pub pods: i64,
    /// Pods that are available.
    pub available: i64,
    /// The limits that are reached.
    pub held: Vec<ReachedLimit>,
}

gantry_model::text_enum! {
    /// A limit that keeps a rollout from its next step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReachedLimit {
        /// The surge limit.
        Surge = "surge",
        /// The availability floor.
        Availability = "availability",
    }

    /// Its name in reports.
    pub fn as_str(self) -> &'static str;
}

/// A cause of a rollout's state.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The reason.
    pub reason: Reason,
    /// How it affects the rollout.
    pub severity: Severity,
    /// The ReplicaSet concerned, if it is one.
    pub set: Option<Name>,
    /// The pods concerned.
    pub pods: Vec<Name>,
    /// The cluster's message about it.
    pub message: Option<String>,
}

gantry_model::text_enum! {
    /// How a cause affects a rollout, the most important first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Severity {
        /// It stays until something is changed.
        Blocks = "blocks",
        /// It resolves by itself.
        Waits = "waits",
        /// Additional information.
        Notes = "notes",
    }

    /// Its name in reports.
    pub fn as_str(self) -> &'static str;
}

impl Report {
    /// One sentence: the Deployment, the verdict, and why.
    pub fn summary_line(&self) -> String {
        format!("{} is {}: {}", self.title(), self.verdict.as_str(), self.headline)
    }

    /// The Deployment, such as `deployment/web`.
    pub fn title(&self) -> String {
        format!("deployment/{}", self.deployment.name)
    }
}

impl Verdict {
    /// Its style.
    pub fn style(self) -> Style {
        match self {
            Self::Done => Style::Good,
            Self::Moving => Style::Busy,
            Self::Stuck => Style::Bad,
            Self::Paused => Style::Strong,
        }
    }
}

impl Cause {
    /// A cause without pods.
    pub(super) fn new(severity: Severity, reason: Reason) -> Self {
        Self { reason, severity, set: None, pods: Vec::new(), message: None }
    }

    pub(super) fn of_set(mut self, set: &Name) -> Self {
        self.set = Some(set.clone());
        self
    }

    pub(super) fn with_message(mut self, message: &str) -> Self {
        let message = crate::formatting::one_line(message);
        self.message = (!message.is_empty()).then_some(message);
        self
    }
}
