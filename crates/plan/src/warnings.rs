//! Warnings about a rollout, for users to read before they apply it.

use std::fmt;
use std::time::Duration;

use gantry_model::Deployment;
use gantry_view::why::Reason;

use crate::plan::{RolloutEnding, RolloutPlan};
use crate::time::span;

/// A fact that a user should know before the rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// It never completes without intervention; the reason as a sentence.
    Blocks(String),
    /// No pod is available for a while.
    Outage {
        /// When it begins.
        from: Duration,
        /// How long it lasts; `None` if it does not end.
        lasts: Option<Duration>,
    },
    /// Pods are without a node at the end.
    Unschedulable {
        /// How many.
        pods: usize,
    },
    /// The progress deadline passes although the rollout completes later.
    DeadlineBeforeCompletion {
        /// When it passes.
        at: Duration,
    },
    /// Containers without a readiness probe: their pods count as available as soon as they run.
    NoReadinessProbe {
        /// Their names.
        containers: Vec<String>,
    },
}

/// Returns the warnings about a rollout.
pub(crate) fn warnings(deployment: &Deployment, plan: &RolloutPlan) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let summary = &plan.summary;
    let ending = plan.ending();
    if ending == RolloutEnding::Stuck {
        warnings.push(Warning::Blocks(plan.report.headline.clone()));
    }
    if let Some(outage) = summary.outage {
        let lasts = outage.until.map(|until| until.saturating_sub(outage.from));
        warnings.push(Warning::Outage { from: outage.from, lasts });
    }
    let unscheduled =
        plan.report.causes.iter().filter(|cause| matches!(cause.reason, Reason::Unschedulable { .. }));
    match unscheduled.map(|cause| cause.pods.len()).sum() {
        0 => {}
        pods => warnings.push(Warning::Unschedulable { pods }),
    }
    if let (Some(at), RolloutEnding::Complete(_)) = (summary.deadline_exceeded_after, ending) {
        warnings.push(Warning::DeadlineBeforeCompletion { at });
    }
    let containers = without_readiness_probe(deployment);
    if !containers.is_empty() {
        warnings.push(Warning::NoReadinessProbe { containers });
    }
    warnings
}

fn without_readiness_probe(deployment: &Deployment) -> Vec<String> {
    let spec = deployment.template.written().spec.as_ref();
    let containers = spec.map(|spec| spec.containers.as_slice()).unwrap_or_default();
    let without = containers.iter().filter(|container| container.readiness_probe.is_none());
    without.map(|container| container.name.clone()).collect()
}

impl Warning {
    /// Its name in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blocks(_) => "blocks",
            Self::Outage { .. } => "outage",
            Self::Unschedulable { .. } => "unschedulable",
            Self::DeadlineBeforeCompletion { .. } => "deadline-before-completion",
            Self::NoReadinessProbe { .. } => "no-readiness-probe",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(headline) => write!(f, "the rollout never completes: {headline}"),
            Self::Outage { from, lasts: Some(lasts) } => {
                write!(f, "no pod is available for {}, from {} on", span(*lasts), span(*from))
            }
            Self::Outage { from, lasts: None } => {
                write!(f, "no pod is available any more from {} on", span(*from))
            }
            Self::Unschedulable { pods: 1 } => f.write_str("this needs 1 pod more than the nodes hold"),
            Self::Unschedulable { pods } => write!(f, "this needs {pods} pods more than the nodes hold"),
            Self::DeadlineBeforeCompletion { at } => write!(
                f,
                "the progress deadline is exceeded at {}: `rollout status` fails then, although the rollout completes",
                span(*at)
            ),
            Self::NoReadinessProbe { containers } => write!(
                f,
                "no readiness probe ({}): a pod counts as available as soon as its containers run",
                containers.join(", ")
            ),
        }
    }
}
