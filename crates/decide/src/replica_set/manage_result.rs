//! The responses to creations and deletions: events, lowered expectations and the result of the sync.

use std::fmt;

use gantry_model::{Event, Name, ObjectKey, Refusal, RefusalKind};

use super::draft::NoLabels;
use super::expectations::MetExpectation;
use super::slow_start::SlowStart;

/// The result of managing the pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManageResult {
    /// Expectations to lower.
    pub met: Vec<MetExpectation>,
    /// A failure is reported in the status first and then fails the sync.
    pub result: Result<(), ManageError>,
}

/// Why the number of pods could not be reconciled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManageError {
    /// The template is unusable.
    NoLabels(NoLabels),
    /// The first refused creation.
    Create(Refusal),
    /// The first refused deletion.
    Delete(Refusal),
}

/// Creations in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCreations {
    set: ObjectKey,
    slow_start: SlowStart,
    failed: usize,
    error: Option<Refusal>,
}

/// Deletions in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingDeletions {
    met: Vec<MetExpectation>,
    set: ObjectKey,
    error: Option<Refusal>,
}

/// The event about one attempt to create a pod.
pub fn creation_event(response: &Result<Name, Refusal>) -> Option<Event> {
    match response {
        Ok(pod) => Some(Event::normal("SuccessfulCreate", format!("Created pod: {pod}"))),
        Err(refusal) if refusal.kind == RefusalKind::NamespaceTerminating => None,
        Err(refusal) => Some(Event::warning("FailedCreate", format!("Error creating: {refusal}"))),
    }
}

/// The event about one attempt to delete a pod.
pub fn deletion_event(pod: &Name, response: &Result<(), Refusal>) -> Option<Event> {
    match response {
        Ok(()) => Some(Event::normal("SuccessfulDelete", format!("Deleted pod: {pod}"))),
        Err(refusal) if refusal.kind == RefusalKind::NotFound => None,
        Err(refusal) => Some(Event::warning("FailedDelete", format!("Error deleting: {refusal}"))),
    }
}

impl ManageResult {
    /// Nothing was to be done, or the set may not act.
    pub fn nothing() -> Self {
        Self { met: Vec::new(), result: Ok(()) }
    }

    /// The template is unusable, so no request was made.
    pub fn impossible(no_labels: NoLabels) -> Self {
        Self { met: Vec::new(), result: Err(ManageError::NoLabels(no_labels)) }
    }
}

impl PendingCreations {
    /// Begins to create so many pods.
    pub fn new(set: ObjectKey, count: usize) -> Self {
        Self { set, slow_start: SlowStart::new(count), failed: 0, error: None }
    }

    /// The size of the next batch; `None` when all are done or one failed.
    pub fn batch(&self) -> Option<usize> {
        self.slow_start.batch()
    }

    /// Records the responses to the whole batch, in order.
    ///
    /// A terminating namespace refuses every pod; that counts as success, since there is nothing to retry. A request
    /// without a response counts as failed.
    pub fn completed(&mut self, responses: impl IntoIterator<Item = Result<Name, Refusal>>) {
        let Some(batch) = self.slow_start.batch() else { return };
        let mut succeeded = 0_usize;
        for response in responses {
            match response {
                Err(refusal) if refusal.kind != RefusalKind::NamespaceTerminating => {
                    self.error.get_or_insert(refusal);
                }
                Ok(_) | Err(_) => succeeded += 1,
            }
        }
        let failed = batch.saturating_sub(succeeded);
        self.failed += failed;
        self.slow_start.completed(failed);
    }

    /// The result. Pods that failed or were never tried are no longer expected.
    pub fn finish(self) -> ManageResult {
        let count = self.failed.saturating_add(self.slow_start.untried());
        let met = match count {
            0 => Vec::new(),
            count => vec![MetExpectation::Creations { set: self.set, count }],
        };
        let no_response = || Refusal::other("a pod creation got no response");
        let result = match count {
            0 => Ok(()),
            _ => Err(ManageError::Create(self.error.unwrap_or_else(no_response))),
        };
        ManageResult { met, result }
    }
}

impl PendingDeletions {
    /// Deletions without any responses yet.
    pub fn new(set: ObjectKey) -> Self {
        Self { met: Vec::new(), set, error: None }
    }

    /// Records one response. A missing pod is no failure, but its deletion will not be observed either.
    pub fn answered(&mut self, pod: &ObjectKey, response: Result<(), Refusal>) {
        let Err(refusal) = response else { return };
        self.met.push(MetExpectation::Deletion { set: self.set.clone(), pod: pod.clone() });
        if refusal.kind != RefusalKind::NotFound {
            self.error.get_or_insert(refusal);
        }
    }

    /// The result.
    pub fn finish(self) -> ManageResult {
        let result = self.error.map_or(Ok(()), |refusal| Err(ManageError::Delete(refusal)));
        ManageResult { met: self.met, result }
    }
}

impl fmt::Display for ManageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLabels(no_labels) => write!(f, "{no_labels}"),
            Self::Create(refusal) => write!(f, "{refusal}"),
            Self::Delete(refusal) => write!(f, "unable to delete pods: {refusal}"),
        }
    }
}

impl std::error::Error for ManageError {}
