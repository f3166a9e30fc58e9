//! Which pods a ReplicaSet considers, and which of them it owns after adoption and release.

use std::fmt;

use gantry_model::{Pod, Refusal, RefusalKind, ReplicaSet, Selector};

use crate::ownership::{Claims, claim};

use super::expectations::ExpectationState;
use super::{Observed, WaitingOn};

/// The pods of a sync, before adoption and release.
#[derive(Debug, PartialEq)]
pub struct ClassifiedPods<'a> {
    set: &'a ReplicaSet,
    expectation_state: ExpectationState,
    /// The active pods by ownership.
    pub claims: Claims<'a, Pod>,
    /// Its own terminating pods.
    pub terminating: Vec<&'a Pod>,
}

/// Some pods could not be adopted or released. The sync fails: no pod action, no status write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimFailed {
    /// All refusals, in order.
    pub refusals: Vec<Refusal>,
}

/// Classifies the pods of the set's namespace; an unusable selector stops the sync.
///
/// The expectation state has to be read before the pods are listed, see
/// [`Expectations::expectation_state`](super::Expectations::expectation_state).
pub fn classify_pods<'a>(
    set: &'a ReplicaSet,
    expectation_state: ExpectationState,
    pods: impl IntoIterator<Item = &'a Pod>,
) -> Result<ClassifiedPods<'a>, WaitingOn> {
    let selector = usable_selector(set)?;
    let mut terminating = Vec::new();
    let mut active = Vec::new();
    for pod in pods {
        if !is_candidate(set, pod) {
            continue;
        }
        if pod.is_active() {
            active.push(pod);
        } else if pod.is_terminating()
            && pod.meta.controller().is_some()
            && selector.matches(&pod.meta.labels)
        {
            terminating.push(pod);
        }
    }
    Ok(ClassifiedPods { set, expectation_state, claims: claim(&set.meta, selector, active), terminating })
}

/// The selector, unless it is malformed or empty.
///
/// The API rejects both. A missing selector, which would match nothing, is parsed as an empty one, which would match
/// everything; so the only harmless reaction to either is to do nothing.
fn usable_selector(set: &ReplicaSet) -> Result<&Selector, WaitingOn> {
    match &set.selector {
        Ok(Selector::Everything) => {
            Err(WaitingOn::InvalidSelector { problem: "the selector is empty".to_owned() })
        }
        Ok(selector) => Ok(selector),
        Err(invalid) => Err(WaitingOn::InvalidSelector { problem: invalid.to_string() }),
    }
}

/// Whether a pod is the set's own or an orphan.
fn is_candidate(set: &ReplicaSet, pod: &Pod) -> bool {
    pod.meta.namespace == set.meta.namespace
        && pod.meta.controller().is_none_or(|controller| {
            controller.uid == set.meta.uid
                && controller.name == set.meta.name
                && controller.kind == set.kind.as_str()
        })
}

impl<'a> ClassifiedPods<'a> {
    /// The pods of the set, given the responses to all adoptions and releases.
    ///
    /// All of them are tried, whatever the others' responses; one failure fails the sync. If the live read of the set
    /// refused adoption, each adoption counts as refused.
    pub fn claimed(
        self,
        adoptions: impl IntoIterator<Item = (&'a Pod, Result<(), Refusal>)>,
        releases: impl IntoIterator<Item = (&'a Pod, Result<(), Refusal>)>,
    ) -> Result<Observed<'a>, ClaimFailed> {
        let mut active = self.claims.owned;
        let mut refusals = Vec::new();
        for (pod, response) in adoptions {
            match response {
                Ok(()) => active.push(pod),
                // It was deleted meanwhile.
                Err(refusal) if refusal.kind == RefusalKind::NotFound => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        for (_, response) in releases {
            match response {
                // It was deleted meanwhile, or another pod has its name: either way it is not owned any more.
                Ok(()) | Err(Refusal { kind: RefusalKind::NotFound | RefusalKind::Invalid, .. }) => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(ClaimFailed { refusals });
        }
        let (set, expectation_state, terminating) = (self.set, self.expectation_state, self.terminating);
        Ok(Observed { set, expectation_state, active, terminating, related: Vec::new() })
    }
}

impl fmt::Display for ClaimFailed {
    /// The messages side by side, each once: one live read of the set may have refused all adoptions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut texts: Vec<&str> = Vec::new();
        for refusal in &self.refusals {
            if !texts.contains(&refusal.message.as_str()) {
                texts.push(&refusal.message);
            }
        }
        match texts.as_slice() {
            [only] => f.write_str(only),
            many => write!(f, "[{}]", many.join(", ")),
        }
    }
}

impl std::error::Error for ClaimFailed {}
