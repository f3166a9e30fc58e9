//! The life of a pod on its node: what a kubelet would do about it now, report of it, and when it would look again.
//!
//! ```text
//! Pod (what is asked, how it behaves) + Run (what goes on) + now ─► needed: objects to look up
//!    + what was found of them ─► look ─► Next: Run, status, events, wake-up, end
//! ```
//!
//! A [`Run`] begins when a node first sees a pod and can be had back from the status it reported last, so that nothing
//! needs to be kept elsewhere. Whoever looks late finds everything due happening at once, at the time of the look: no
//! past is made up.
//!
//! *Invariant:* no clock, no client, no randomness that is not the pod's own.

mod containers;
mod dependencies;
mod exits;
mod image;
mod pod;
mod readiness;
mod recover;
mod report;
mod run;
mod words;

#[cfg(test)]
mod tests;

pub use dependencies::{Lookup, Reference, ReferenceKind, References};
pub use pod::Pod;
pub use run::Run;
pub(crate) use words::invalid_annotation;

use std::collections::BTreeSet;

use gantry_model::{Event, Timestamp};
use k8s_openapi::api::core::v1::PodStatus;

/// What a node lends to a pod.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    /// The node's own address.
    pub address: &'a str,
    /// The pod's address, unless it uses the node's.
    pub pod_address: &'a str,
    /// Images that are on the node already.
    pub images: &'a BTreeSet<String>,
    /// What was found of the objects that [`needed`] lists.
    pub references: &'a References,
}

/// What follows from one look at a pod.
#[derive(Clone, Debug)]
pub struct Next {
    /// What goes on from here.
    pub run: Run,
    /// What the node reports.
    pub status: PodStatus,
    /// What it tells, about which container if about one.
    pub events: Vec<Told>,
    /// Images that are on the node from now on.
    pub pulled: Vec<String>,
    /// When to look again unless the pod changes before; never if there is none.
    pub wake: Option<Timestamp>,
    /// Whether this was all.
    pub end: End,
}

/// An event, and the field of the pod that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What is told.
    pub event: Event,
    /// Such as `spec.containers{web}`; none if it is about the whole pod.
    pub field: Option<String>,
}

/// How far a life has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on.
    NotYet,
    /// Everything has ended; the object stays until somebody deletes it.
    Over,
    /// Everything has ended because the object is being deleted: after the report it is to go.
    Remove,
}

/// The objects that a look at this time reads: they are looked up before, and handed over with the [`Host`].
pub fn needed(pod: &Pod, run: &Run, now: Timestamp) -> Vec<Reference> {
    run.needed(pod, now)
}

/// Looks at a pod: does what is due and says what there is to report.
pub fn look(pod: &Pod, run: Run, host: &Host<'_>, now: Timestamp) -> Next {
    let mut run = run;
    let mut happened = run::Happened::default();
    run.proceed(pod, host, now, &mut happened);
    let status = report::status(pod, &mut run, host, now);
    let end = run.end(pod);
    let wake = if end == End::NotYet { run.wake(pod, now) } else { None };
    Next { run, status, events: happened.events, pulled: happened.pulled, wake, end }
}
