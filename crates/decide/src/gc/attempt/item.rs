//! The first steps of an attempt: whether the item has to be checked, and whether it still exists.

use gantry_model::{Identity, Namespace, Uid};

use super::owners::OwnerClassification;
use super::step::ReadPurpose;
use super::{AttemptError, AttemptReason, AttemptResult, AttemptStep, PendingRead, ReadResult, foreground};
use crate::gc::{AttemptContext, GraphNode, KindLookup, Presence, QueueItem, ResourceScope};

#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct Subject {
    /// As the graph has it.
    pub(in crate::gc) node: Identity,
    /// As requests name it: cluster-scoped kinds have no namespace, whatever a dependent's reference made the graph
    /// believe.
    pub(in crate::gc) target: Identity,
}

/// Begins an attempt to delete an item.
pub fn begin(item: &QueueItem, context: &AttemptContext<'_>) -> AttemptStep {
    let Some(node) = context.graph.node(item.uid()) else {
        return AttemptStep::Done(AttemptResult::left(AttemptReason::NotInGraph));
    };
    match (item, node.presence()) {
        (_, Presence::PendingDelete | Presence::Orphaning) => {
            AttemptStep::Done(AttemptResult::left(AttemptReason::AlreadyDeleting))
        }
        (QueueItem::Virtual(_), Presence::Live | Presence::DeletingDependents) => {
            AttemptStep::Done(AttemptResult::left(AttemptReason::MeanwhileObserved))
        }
        (QueueItem::Virtual(_), Presence::Virtual) | (QueueItem::Observed(_), _) => {
            match Subject::resolve(node.identity(), context.kinds) {
                Ok(subject) => {
                    AttemptStep::Read(subject.target.clone(), PendingRead(ReadPurpose::Item(subject)))
                }
                Err(error) => AttemptStep::Done(AttemptResult::Failed(error)),
            }
        }
    }
}

/// G4.2: the identity for requests, of an object that is known from this namespace.
#[expect(clippy::result_large_err, reason = "an error is rare and ends the attempt")]
pub(in crate::gc) fn resolve(
    identity: &Identity,
    namespace: Option<&Namespace>,
    kinds: &dyn KindLookup,
) -> Result<Identity, AttemptError> {
    match (kinds.scope(&identity.api_version, &identity.kind), namespace) {
        (None, _) => Err(AttemptError::UnknownKind(identity.clone())),
        (Some(ResourceScope::Cluster), _) => Ok(identity.in_namespace(None)),
        (Some(ResourceScope::Namespaced), Some(namespace)) => {
            Ok(identity.in_namespace(Some(namespace.clone())))
        }
        (Some(ResourceScope::Namespaced), None) => {
            Err(AttemptError::NamespacedOwnerOfClusterScoped(identity.clone()))
        }
    }
}

impl Subject {
    #[expect(clippy::result_large_err, reason = "an error is rare and ends the attempt")]
    pub(in crate::gc) fn resolve(node: &Identity, kinds: &dyn KindLookup) -> Result<Self, AttemptError> {
        let target = resolve(node, node.namespace.as_ref(), kinds)?;
        Ok(Self { node: node.clone(), target })
    }

    pub(super) fn uid(&self) -> &Uid {
        &self.node.uid
    }

    /// The object does not exist.
    pub(super) fn absent(self) -> AttemptStep {
        AttemptStep::Done(AttemptResult::Absent(self.node))
    }

    /// G4.2 to G4.4: the response to the live read of the item.
    pub(super) fn found(self, response: ReadResult, context: &mut AttemptContext<'_>) -> AttemptStep {
        let live = match response {
            ReadResult::Found(live) if live.identity.uid == *self.uid() => live,
            ReadResult::Found(_) | ReadResult::NotFound => return self.absent(),
            ReadResult::Failed(refusal) => {
                return AttemptStep::Done(AttemptResult::Failed(AttemptError::ReadFailed(
                    self.target,
                    refusal,
                )));
            }
        };
        match context.graph.node(self.uid()).map(GraphNode::presence) {
            None => AttemptStep::Done(AttemptResult::left(AttemptReason::NotInGraph)),
            Some(Presence::DeletingDependents) => foreground::go_on(self, live, context.graph),
            Some(_) if live.owners.is_empty() => {
                AttemptStep::Done(AttemptResult::left(AttemptReason::NoOwners))
            }
            Some(_) => OwnerClassification::begin(self, live).advance(context),
        }
    }
}
