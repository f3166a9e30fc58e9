//! Attempts: the rules say what to read, patch or delete next, and are handed the answer.

use futures::future::join_all;
use gantry_decide::Wake;
use gantry_decide::gc::attempt::FINALIZER_RETRY_JITTER;
use gantry_decide::gc::orphan::{self, Orphaning};
use gantry_decide::gc::{Change as Seen, Deed, Deletion as Asked, Fate, Item, Outcome, Step, attempt};
use gantry_decide::queue;
use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, Refusal, Uid};
use gantry_runtime::{Deletion, Target, lengthened};
use kube::core::PartialObjectMeta;

use super::{Garbage, ended};

impl Garbage {
    /// Looks whether an object is garbage.
    pub(super) async fn attempt_to_delete(&self, item: &Item) -> (queue::Outcome, Wake) {
        let first = attempt::begin(item, &self.mind().knowledge());
        let outcome = self.run_to_end(first).await;
        tracing::trace!(%item, %outcome, "attempt to delete");
        match &outcome {
            Outcome::Absent(identity) => self.observe(Seen::VerifiedAbsent(identity.clone())),
            Outcome::Settled { did: Deed::Asked(items), .. } => {
                for item in items {
                    self.to_delete.add(item.clone());
                }
            }
            Outcome::Settled { did: Deed::Nothing, .. } | Outcome::Failed(_) => {}
            Outcome::Settled { .. } => tracing::debug!(%item, %outcome, "collected"),
        }
        ended(outcome.fate(item, &self.mind().graph), &outcome)
    }

    /// Frees the dependents of an object.
    pub(super) async fn attempt_to_orphan(&self, owner: &Uid) -> (queue::Outcome, Wake) {
        let begun = orphan::begin(owner, &self.mind().knowledge());
        let outcome = match begun {
            Orphaning::Done(outcome) => outcome,
            Orphaning::Release(releases, afterwards) => {
                let outcomes = join_all(releases.into_iter().map(|first| self.run_to_end(first))).await;
                self.run_to_end(afterwards.resume(outcomes)).await
            }
        };
        let fate = if matches!(outcome, Outcome::Failed(_)) { Fate::Retry } else { Fate::Forget };
        ended(fate, &outcome)
    }

    async fn run_to_end(&self, first: Step) -> Outcome {
        let mut step = first;
        loop {
            step = match step {
                Step::Done(outcome) => return outcome,
                Step::Wait(delay, waiting) => {
                    // Whoever met in a conflict should not meet again.
                    tokio::time::sleep(lengthened(delay, FINALIZER_RETRY_JITTER)).await;
                    waiting.resume()
                }
                Step::Read(target, reading) => {
                    let answer = self.read(&target).await;
                    reading.resume(answer.into(), &mut self.mind().knowledge())
                }
                Step::Patch(target, patch, patching) => {
                    patching.resume(self.patch(&target, &patch).await.into())
                }
                Step::Delete(deletion, deleting) => deleting.resume(self.delete(&deletion).await.into()),
            };
        }
    }

    async fn read(&self, identity: &Identity) -> Result<ObjectMetadata, Refusal> {
        let target = self.target(identity)?;
        let found = self.context.api.get_metadata::<PartialObjectMeta>(&target).await?;
        parse(identity, found)
    }

    async fn patch(&self, identity: &Identity, patch: &MetadataPatch) -> Result<ObjectMetadata, Refusal> {
        let target = self.target(identity)?;
        let stored =
            self.context.api.patch::<PartialObjectMeta>(&target, patch.form(), &patch.body()).await?;
        parse(identity, stored)
    }

    async fn delete(&self, asked: &Asked) -> Result<(), Refusal> {
        let target = self.target(&asked.target)?;
        let deletion = Deletion {
            propagation: Some(asked.propagation),
            uid: Some(asked.uid.clone()),
            version: asked.version.clone(),
            grace_seconds: None,
        };
        Ok(self.context.api.delete(&target, &deletion).await?)
    }

    /// Where an object is found, by what is served now.
    fn target(&self, identity: &Identity) -> Result<Target, Refusal> {
        let mind = self.mind();
        let resource = mind.kinds.resource(&identity.api_version, &identity.kind).ok_or_else(|| {
            Refusal::other(format!("no kind {} is served in {}", identity.kind, identity.api_version))
        })?;
        Ok(Target::object(resource, identity.namespace.as_ref(), &identity.name))
    }
}

fn parse(identity: &Identity, found: PartialObjectMeta) -> Result<ObjectMetadata, Refusal> {
    ObjectMetadata::parse(&identity.api_version, &identity.kind, found.metadata)
        .map_err(|error| Refusal::other(error.to_string()))
}
