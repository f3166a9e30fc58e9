//! The input of an exploration: a Deployment, the actions of its user, and the faults to inject.

use std::fmt;

use crate::drafts;
use gantry_decide::deployment::Repairs;
use gantry_model::{Limit, RollingLimits, Strategy, Template};

/// A small world to explore.
#[derive(Clone, Debug)]
pub struct SmallWorld {
    /// The initial `spec.replicas`.
    pub replicas: u16,
    /// The initial `spec.strategy`.
    pub strategy: Strategy,
    /// The state in which the exploration begins.
    pub start: StartingPoint,
    /// The actions of the user, each once, at any time and in any order that makes sense.
    pub actions: Vec<UserAction>,
    /// The faults, and how often each may occur.
    pub budget: FaultBudget,
    /// `spec.minReadySeconds`.
    pub min_ready_seconds: i32,
    /// `spec.progressDeadlineSeconds`.
    pub deadline_seconds: Option<i32>,
    /// `spec.revisionHistoryLimit`.
    pub history: Option<u16>,
    /// Whether time passes. Without it, nothing becomes due.
    pub is_timed: bool,
    /// A template whose pods never become ready.
    pub broken: Option<u8>,
    /// Whether each change reaches the caches on its own, at any time.
    pub slow_watches: bool,
    /// The repairs of upstream's defects that are on.
    pub repairs: Repairs,
    /// The rule that is broken on purpose, if any.
    pub mutant: Option<Mutant>,
    pub(crate) templates: [Template; 4],
}

/// The state in which an exploration begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartingPoint {
    /// The Deployment was just created.
    Created,
    /// The first template is rolled out.
    RolledOut,
}

/// How often each fault may occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaultBudget {
    /// The controllers' process restarts, between any two of its writes.
    pub crashes: u8,
    /// A watch is delayed: syncs decide on an older cache until it catches up.
    pub delays: u8,
    /// A write is refused.
    pub refusals: u8,
    /// A write takes effect and its response is lost.
    pub lost_responses: u8,
    /// A pod fails permanently.
    pub failures: u8,
    /// A ready pod stops being ready for a while.
    pub unready: u8,
    /// Expectations time out.
    pub timeouts: u8,
}

/// An action of a user.
#[derive(Clone, Debug, PartialEq)]
pub enum UserAction {
    /// Sets the template of this number.
    SetTemplate(u8),
    /// Sets `spec.replicas`.
    Scale(u16),
    /// Sets `spec.paused`.
    Pause,
    /// Clears `spec.paused`; only once it is paused.
    Resume,
    /// Restores the template of the last but one revision, as `kubectl rollout undo` does.
    Undo,
    /// Requests a rollback by the legacy annotation.
    RequestRollback(i64),
    /// Changes the strategy.
    SetStrategy(Strategy),
    /// Sets `spec.minReadySeconds`.
    SetMinReady(i32),
}

/// A rule that is broken on purpose: the checker has to detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The Deployment controller assumes one pod more of surge.
    SurgePlusOne,
    /// The Deployment controller assumes one more unavailable pod.
    UnavailablePlusOne,
    /// Every pod counts as available.
    AllPodsAvailable,
    /// The ReplicaSet controller expects nothing and does not compare versions.
    NoExpectations,
    /// Versions are not compared before a set acts, as before Kubernetes 1.36.
    NoVersionCheck,
    /// The server accepts writes of outdated objects.
    ConflictsIgnored,
    /// A refused step counts as done.
    RefusalsIgnored,
    /// Recreate ignores old pods.
    OldPodsOverlooked,
    /// The new ReplicaSet gets the revision of the previous one.
    RevisionReused,
}

impl SmallWorld {
    /// A rolled-out Deployment of this many replicas, without actions and faults.
    pub fn new(replicas: u16, strategy: Strategy) -> Self {
        Self {
            replicas,
            strategy,
            start: StartingPoint::RolledOut,
            actions: Vec::new(),
            budget: FaultBudget::default(),
            min_ready_seconds: 0,
            deadline_seconds: Some(600),
            history: Some(10),
            is_timed: false,
            broken: None,
            slow_watches: false,
            repairs: Repairs::default(),
            mutant: None,
            templates: [0, 1, 2, 3].map(drafts::template),
        }
    }

    /// The same with these actions.
    #[must_use]
    pub fn with(mut self, actions: &[UserAction]) -> Self {
        self.actions = actions.to_vec();
        self
    }

    /// The same with this budget.
    #[must_use]
    pub fn budget(mut self, budget: FaultBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Whether the user changes the number of pods or the limits.
    pub(crate) fn changes_limits(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, UserAction::Scale(_) | UserAction::SetStrategy(_)))
    }
}

/// RollingUpdate with these limits in pods.
pub fn rolling(surge: i32, unavailable: i32) -> Strategy {
    limits(Limit::Count(surge), Limit::Count(unavailable))
}

/// RollingUpdate with these limits in per cent.
pub fn rolling_percent(surge: i32, unavailable: i32) -> Strategy {
    limits(Limit::Percent(surge), Limit::Percent(unavailable))
}

fn limits(surge: Limit, unavailable: Limit) -> Strategy {
    Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable }))
}

/// One line: the Deployment, the actions of its user, and the faults.
impl fmt::Display for SmallWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pods, {}", self.replicas, strategy_text(&self.strategy))?;
        if self.start == StartingPoint::Created {
            f.write_str(", just created")?;
        }
        for action in &self.actions {
            write!(f, ", {action}")?;
        }
        let FaultBudget { crashes, delays, refusals, lost_responses, failures, unready, timeouts } =
            self.budget;
        for (count, what) in [
            (crashes, "crash"),
            (delays, "delayed watch"),
            (refusals, "refused write"),
            (lost_responses, "lost response"),
            (failures, "failing pod"),
            (unready, "unready pod"),
            (timeouts, "timeout of expectations"),
        ] {
            if count > 0 {
                write!(f, " + {count} {what}")?;
            }
        }
        for (holds, what) in [
            (self.min_ready_seconds > 0, "minReadySeconds"),
            (self.is_timed, "time"),
            (self.slow_watches, "slow watches"),
            (self.broken.is_some(), "a broken template"),
        ] {
            if holds {
                write!(f, ", {what}")?;
            }
        }
        if self.repairs != Repairs::default() {
            f.write_str(", repaired")?;
        }
        self.mutant.map_or(Ok(()), |mutant| write!(f, ", mutant {mutant:?}"))
    }
}

impl fmt::Display for UserAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetTemplate(version) => write!(f, "image web:{version}"),
            Self::Scale(replicas) => write!(f, "scale to {replicas}"),
            Self::Pause => f.write_str("pause"),
            Self::Resume => f.write_str("resume"),
            Self::Undo => f.write_str("undo"),
            Self::RequestRollback(revision) => write!(f, "request rollback to {revision}"),
            Self::SetStrategy(strategy) => write!(f, "strategy {}", strategy_text(strategy)),
            Self::SetMinReady(seconds) => write!(f, "minReadySeconds {seconds}"),
        }
    }
}

fn strategy_text(strategy: &Strategy) -> String {
    match strategy {
        Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable })) => {
            format!("+{surge} -{unavailable}")
        }
        Strategy::RollingUpdate(Err(_)) => "invalid limits".to_owned(),
        Strategy::Recreate => "Recreate".to_owned(),
        Strategy::Unknown(other) => other.clone(),
    }
}
