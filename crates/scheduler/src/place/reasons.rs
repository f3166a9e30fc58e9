//! Why no node takes a pod, in kube-scheduler's words.

use std::collections::BTreeMap;
use std::fmt;

/// Why one node does not take a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The pod names the nodes it goes to, and this is none of them.
    NotNamed,
    /// The node is not to get new pods.
    Cordoned,
    /// The node has a taint that the pod does not tolerate.
    Tainted,
    /// The pod does not want this node.
    NotWanted,
    /// Another pod has a port of the node that this one needs.
    PortsTaken,
    /// The node lacks a label by which the pod is to be spread.
    OffTheMap,
    /// The pod would be spread unevenly.
    Uneven,
    /// The pods it wants to be near are not.
    TooFar,
    /// Pods it wants to be apart from are near.
    TooNear,
    /// Pods that want to be apart from it are near.
    Unwelcome,
    /// A volume of the pod does not exist.
    VolumeMissing,
    /// A volume of the pod cannot be reached from the node.
    VolumeElsewhere,
    /// No volume on the node meets a claim of the pod.
    NoVolume,
    /// There is too little left.
    Lacking {
        /// Of what, in words.
        what: Vec<String>,
        /// Whether it would be too little even on an empty node.
        never: bool,
    },
}

/// Why no node takes a pod, counted.
///
/// `Display` is the message of the pod's condition and of the event about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasons {
    nodes: usize,
    counts: BTreeMap<String, usize>,
    /// Nodes on which room might be made by evicting pods, in principle.
    hopeful: usize,
    preempts: bool,
    /// What stands in the way of the pod whichever node it is.
    everywhere: Option<Everywhere>,
}

/// Why a pod goes nowhere, whichever node it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Everywhere {
    /// No node is even asked.
    NotAsked(String),
    /// A node would take it, but something has to be done before.
    NotDone(String),
}

impl Reasons {
    pub(super) fn new(preempts: bool) -> Self {
        Self { nodes: 0, counts: BTreeMap::new(), hopeful: 0, preempts, everywhere: None }
    }

    /// One reason against all of so many nodes.
    pub(super) fn everywhere(nodes: usize, reason: Everywhere) -> Self {
        Self { nodes, everywhere: Some(reason), ..Self::new(true) }
    }

    pub(super) fn add(&mut self, refusal: Refusal) {
        self.nodes += 1;
        self.hopeful += usize::from(refusal.might_pass());
        for word in refusal.words() {
            *self.counts.entry(word).or_default() += 1;
        }
    }
}

impl Refusal {
    /// Whether pods leaving the node could change it.
    fn might_pass(&self) -> bool {
        matches!(
            self,
            Self::PortsTaken
                | Self::Uneven
                | Self::TooNear
                | Self::Unwelcome
                | Self::Lacking { never: false, .. }
        )
    }

    fn words(self) -> Vec<String> {
        let words = match self {
            Self::NotNamed => "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            Self::Cordoned => "node(s) were unschedulable",
            Self::Tainted => "node(s) had untolerated taint(s)",
            Self::NotWanted => "node(s) didn't match Pod's node affinity/selector",
            Self::PortsTaken => "node(s) didn't have free ports for the requested pod ports",
            Self::OffTheMap => {
                "node(s) didn't match pod topology spread constraints (missing required label)"
            }
            Self::Uneven => "node(s) didn't match pod topology spread constraints",
            Self::TooFar => "node(s) didn't match pod affinity rules",
            Self::TooNear => "node(s) didn't match pod anti-affinity rules",
            Self::Unwelcome => "node(s) didn't satisfy existing pods anti-affinity rules",
            Self::VolumeMissing => {
                "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
            }
            Self::VolumeElsewhere => "node(s) didn't match PersistentVolume's node affinity",
            Self::NoVolume => "node(s) didn't find available persistent volumes to bind",
            Self::Lacking { what, .. } => return what,
        };
        vec![words.to_owned()]
    }
}

impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes;
        if nodes == 0 {
            return f.write_str("no nodes available to schedule pods");
        }
        match &self.everywhere {
            // The two words at the end are what kube-scheduler 1.37 says of preemption here.
            Some(Everywhere::NotAsked(why)) => {
                return write!(f, "0/{nodes} nodes are available: {why}. not found");
            }
            Some(Everywhere::NotDone(why)) => return f.write_str(why),
            None => {}
        }
        write!(f, "0/{nodes} nodes are available: {}. preemption: ", counted(&self.counts))?;
        if !self.preempts {
            return f.write_str("not eligible due to preemptionPolicy=Never.");
        }
        let outlook = [
            ("No preemption victims found for incoming pod".to_owned(), self.hopeful),
            ("Preemption is not helpful for scheduling".to_owned(), nodes - self.hopeful),
        ];
        write!(f, "0/{nodes} nodes are available: {}.", counted(&BTreeMap::from(outlook)))
    }
}

/// `1 Insufficient cpu, 2 node(s) were unschedulable`, in the order of the text.
fn counted(counts: &BTreeMap<String, usize>) -> String {
    let some = counts.iter().filter(|(_, count)| **count > 0);
    let mut texts: Vec<_> = some.map(|(words, count)| format!("{count} {words}")).collect();
    texts.sort_unstable();
    texts.join(", ")
}
