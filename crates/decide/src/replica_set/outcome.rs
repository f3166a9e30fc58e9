//! What the answers to creations and deletions mean: for people, for the expectations and for the sync.

use std::fmt;

use gantry_model::{Event, Name, ObjectKey, Refusal, RefusalKind};

use super::draft::NoLabels;
use super::expectations::Settled;
use super::slow_start::SlowStart;

/// What came of managing the pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Managed {
    /// What need not be waited for.
    pub settled: Vec<Settled>,
    /// Whether it went well. A failure is reported in the status first and then fails the sync.
    pub result: Result<(), ManageError>,
}

/// Why the pods could not be brought to the desired number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManageError {
    /// No pod can be made from the template.
    NoLabels(NoLabels),
    /// A pod was not created; the first refusal that came.
    Create(Refusal),
    /// A pod was not deleted; the first refusal that came.
    Delete(Refusal),
}

/// Creations under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creating {
    set: ObjectKey,
    slow_start: SlowStart,
    failed: usize,
    error: Option<Refusal>,
}

/// Deletions under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleting {
    settled: Vec<Settled>,
    set: ObjectKey,
    error: Option<Refusal>,
}

/// What to tell about one attempt to create a pod.
pub fn creation_event(answer: &Result<Name, Refusal>) -> Option<Event> {
    match answer {
        Ok(pod) => Some(Event::normal("SuccessfulCreate", format!("Created pod: {pod}"))),
        Err(refusal) if refusal.kind == RefusalKind::NamespaceTerminating => None,
        Err(refusal) => Some(Event::warning("FailedCreate", format!("Error creating: {refusal}"))),
    }
}

/// What to tell about one attempt to delete a pod.
pub fn deletion_event(pod: &Name, answer: &Result<(), Refusal>) -> Option<Event> {
    match answer {
        Ok(()) => Some(Event::normal("SuccessfulDelete", format!("Deleted pod: {pod}"))),
        Err(refusal) if refusal.kind == RefusalKind::NotFound => None,
        Err(refusal) => Some(Event::warning("FailedDelete", format!("Error deleting: {refusal}"))),
    }
}

impl Managed {
    /// There was nothing to do, or it was not the time to do it.
    pub fn nothing() -> Self {
        Self { settled: Vec::new(), result: Ok(()) }
    }

    /// It could not even be tried.
    pub fn impossible(no_labels: NoLabels) -> Self {
        Self { settled: Vec::new(), result: Err(ManageError::NoLabels(no_labels)) }
    }
}

impl Creating {
    /// Starts to create so many pods.
    pub fn new(set: ObjectKey, count: usize) -> Self {
        Self { set, slow_start: SlowStart::new(count), failed: 0, error: None }
    }

    /// How many pods to create now, all at once; `None` when it is over.
    pub fn batch(&self) -> Option<usize> {
        self.slow_start.batch()
    }

    /// Takes note of the answers to the whole batch, in the order in which they came.
    ///
    /// A namespace that is being deleted would refuse every pod; that counts as success, for there is nothing to
    /// retry. A call without an answer counts as failed.
    pub fn completed(&mut self, answers: impl IntoIterator<Item = Result<Name, Refusal>>) {
        let Some(batch) = self.slow_start.batch() else { return };
        let mut succeeded = 0_usize;
        for answer in answers {
            match answer {
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

    /// What came of it: pods that failed or were never tried are not waited for.
    pub fn finish(self) -> Managed {
        let count = self.failed.saturating_add(self.slow_start.untried());
        let settled = match count {
            0 => Vec::new(),
            count => vec![Settled::Creations { set: self.set, count }],
        };
        let no_answer = || Refusal::other("a pod creation was not answered");
        let result = match count {
            0 => Ok(()),
            _ => Err(ManageError::Create(self.error.unwrap_or_else(no_answer))),
        };
        Managed { settled, result }
    }
}

impl Deleting {
    /// Starts to delete pods.
    pub fn new(set: ObjectKey) -> Self {
        Self { settled: Vec::new(), set, error: None }
    }

    /// Takes note of one answer. A pod that was gone already is no failure, but will not be seen to go either.
    pub fn answered(&mut self, pod: &ObjectKey, answer: Result<(), Refusal>) {
        let Err(refusal) = answer else { return };
        self.settled.push(Settled::Deletion { set: self.set.clone(), pod: pod.clone() });
        if refusal.kind != RefusalKind::NotFound {
            self.error.get_or_insert(refusal);
        }
    }

    /// What came of it.
    pub fn finish(self) -> Managed {
        let result = self.error.map_or(Ok(()), |refusal| Err(ManageError::Delete(refusal)));
        Managed { settled: self.settled, result }
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
