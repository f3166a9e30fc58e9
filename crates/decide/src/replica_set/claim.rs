//! Which pods a ReplicaSet looks at, and which of them are its own in the end.

use std::fmt;

use gantry_model::{Pod, Refusal, RefusalKind, ReplicaSet, Selector};

use crate::ownership::{Claims, claim};

use super::expectations::Standing;
use super::{Observed, WaitingOn};

/// The pods a sync looks at, before anything was adopted or released.
#[derive(Debug, PartialEq)]
pub struct Considered<'a> {
    set: &'a ReplicaSet,
    standing: Standing,
    /// What to do about whose they are; only active pods are in it.
    pub claims: Claims<'a, Pod>,
    /// Its own pods on their way out.
    pub terminating: Vec<&'a Pod>,
}

/// Some pods could not be adopted or released. The sync fails: no pod action, no status write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimFailed {
    /// All refusals, in the order in which they came.
    pub refusals: Vec<Refusal>,
}

/// Sorts the pods of the set's namespace; an unusable selector is a reason to sit still.
///
/// The standing comes from before the pods were listed, see
/// [`Expectations::standing`](super::Expectations::standing).
pub fn consider<'a>(
    set: &'a ReplicaSet,
    standing: Standing,
    pods: impl IntoIterator<Item = &'a Pod>,
) -> Result<Considered<'a>, WaitingOn> {
    let selector = usable_selector(set)?;
    let mut terminating = Vec::new();
    let mut active = Vec::new();
    for pod in pods {
        if !is_considered(set, pod) {
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
    Ok(Considered { set, standing, claims: claim(&set.meta, selector, active), terminating })
}

/// The selector, unless it is malformed or empty.
///
/// The API refuses both. A missing selector, which would match nothing, is read as an empty one, which would match
/// everything; so the only harmless thing to do about either is nothing.
fn usable_selector(set: &ReplicaSet) -> Result<&Selector, WaitingOn> {
    match &set.selector {
        Ok(Selector::Everything) => {
            Err(WaitingOn::InvalidSelector { problem: "the selector is empty".to_owned() })
        }
        Ok(selector) => Ok(selector),
        Err(invalid) => Err(WaitingOn::InvalidSelector { problem: invalid.to_string() }),
    }
}

/// Whether a pod is the set's business: its own, or nobody's.
fn is_considered(set: &ReplicaSet, pod: &Pod) -> bool {
    pod.meta.namespace == set.meta.namespace
        && pod.meta.controller().is_none_or(|controller| {
            controller.uid == set.meta.uid
                && controller.name == set.meta.name
                && controller.kind == set.kind.as_str()
        })
}

impl<'a> Considered<'a> {
    /// What the set has, once every adoption and every release has been answered.
    ///
    /// All of them are tried, whatever the others' answers; one failure fails the sync. If the fresh read of the set
    /// refused adoption, each adoption was answered with that refusal.
    pub fn claimed(
        self,
        adoptions: impl IntoIterator<Item = (&'a Pod, Result<(), Refusal>)>,
        releases: impl IntoIterator<Item = (&'a Pod, Result<(), Refusal>)>,
    ) -> Result<Observed<'a>, ClaimFailed> {
        let mut active = self.claims.owned;
        let mut refusals = Vec::new();
        for (pod, answer) in adoptions {
            match answer {
                Ok(()) => active.push(pod),
                // It went away in between.
                Err(refusal) if refusal.kind == RefusalKind::NotFound => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        for (_, answer) in releases {
            match answer {
                // It went away in between, or another pod has its name: either way it is not ours any more.
                Ok(()) | Err(Refusal { kind: RefusalKind::NotFound | RefusalKind::Invalid, .. }) => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(ClaimFailed { refusals });
        }
        let (set, standing, terminating) = (self.set, self.standing, self.terminating);
        Ok(Observed { set, standing, active, terminating, related: Vec::new() })
    }
}

impl fmt::Display for ClaimFailed {
    /// The texts side by side, each said once: one live read of the set may have refused all adoptions.
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
