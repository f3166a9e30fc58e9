//! The first steps of an attempt: is the item worth a look, and is it still there?

use gantry_model::{Identity, Namespace, Uid};

use super::owners::Survey;
use super::step::Question;
use super::{Outcome, ReadAnswer, Reading, Step, Trouble, Why, foreground};
use crate::gc::{Item, Kinds, Knowledge, Node, Presence, Scope};

/// The object an attempt is about.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gc) struct Subject {
    /// As the graph has it: what the graph is told about should it be gone.
    pub(in crate::gc) node: Identity,
    /// As requests have to name it: cluster-scoped kinds have no namespace, whatever a dependent's reference made
    /// the graph believe.
    pub(in crate::gc) target: Identity,
}

/// Begins an attempt to delete an item.
pub fn begin(item: &Item, knowledge: &Knowledge<'_>) -> Step {
    let Some(node) = knowledge.graph.node(item.uid()) else {
        return Step::Done(Outcome::left(Why::NotInGraph));
    };
    match (item, node.presence()) {
        (_, Presence::Deleting | Presence::Orphaning) => Step::Done(Outcome::left(Why::AlreadyDeleting)),
        (Item::Virtual(_), Presence::Live | Presence::DeletingDependents) => {
            Step::Done(Outcome::left(Why::MeanwhileObserved))
        }
        (Item::Virtual(_), Presence::Virtual) | (Item::Observed(_), _) => {
            match Subject::resolve(node.identity(), knowledge.kinds) {
                Ok(subject) => Step::Read(subject.target.clone(), Reading(Question::Item(subject))),
                Err(trouble) => Step::Done(Outcome::Failed(trouble)),
            }
        }
    }
}

/// G4.2: how requests have to name an object that is known from this namespace.
#[expect(clippy::result_large_err, reason = "a trouble is rare and ends the attempt")]
pub(in crate::gc) fn resolve(
    identity: &Identity,
    namespace: Option<&Namespace>,
    kinds: &dyn Kinds,
) -> Result<Identity, Trouble> {
    match (kinds.scope(&identity.api_version, &identity.kind), namespace) {
        (None, _) => Err(Trouble::UnknownKind(identity.clone())),
        (Some(Scope::Cluster), _) => Ok(identity.in_namespace(None)),
        (Some(Scope::Namespaced), Some(namespace)) => Ok(identity.in_namespace(Some(namespace.clone()))),
        (Some(Scope::Namespaced), None) => Err(Trouble::NamespacedOwnerOfClusterScoped(identity.clone())),
    }
}

impl Subject {
    /// The object as requests have to name it.
    #[expect(clippy::result_large_err, reason = "a trouble is rare and ends the attempt")]
    pub(in crate::gc) fn resolve(node: &Identity, kinds: &dyn Kinds) -> Result<Self, Trouble> {
        let target = resolve(node, node.namespace.as_ref(), kinds)?;
        Ok(Self { node: node.clone(), target })
    }

    /// The uid of the object.
    pub(super) fn uid(&self) -> &Uid {
        &self.node.uid
    }

    /// There is no such object.
    pub(super) fn absent(self) -> Step {
        Step::Done(Outcome::Absent(self.node))
    }

    /// G4.2 to G4.4: the live read of the item has been answered.
    pub(super) fn found(self, answer: ReadAnswer, knowledge: &mut Knowledge<'_>) -> Step {
        let live = match answer {
            ReadAnswer::Found(live) if live.identity.uid == *self.uid() => live,
            ReadAnswer::Found(_) | ReadAnswer::NotFound => return self.absent(),
            ReadAnswer::Failed(refusal) => {
                return Step::Done(Outcome::Failed(Trouble::ReadFailed(self.target, refusal)));
            }
        };
        match knowledge.graph.node(self.uid()).map(Node::presence) {
            None => Step::Done(Outcome::left(Why::NotInGraph)),
            Some(Presence::DeletingDependents) => foreground::go_on(self, live, knowledge.graph),
            Some(_) if live.owners.is_empty() => Step::Done(Outcome::left(Why::NoOwners)),
            Some(_) => Survey::begin(self, live).advance(knowledge),
        }
    }
}
