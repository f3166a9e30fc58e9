//! Reconciles CustomResourceDefinitions: accepts their names, establishes them, and deletes their objects before they
//! are deleted.
//!
//! The registry decides; this file writes. Every pass starts from the stored state, so an interrupted pass is
//! completed by the next.

use std::sync::Arc;

use gantry_json::Value;
use gantry_primitives::{Refusal, Timestamp};
use gantry_registry::lifecycle::{self, DeleteOptions};
use gantry_schema::custom::{self, Ending};
use gantry_schema::kinds::{Kind, Nature, kinds};
use gantry_store::ListRequest;

use crate::catalogue::{Catalogue, DEFINITIONS, Definition, Definitions};
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::{Change, ChangeResult, ObjectRef, Objects};
use crate::storage_codec;
use crate::{ApiServer, Maintenance};

/// The maximum number of passes: a name that one definition releases may be accepted for another.
const PASSES_MAX: usize = 16;
/// The page size of lists.
const PAGE: usize = 500;

impl ApiServer {
    /// Reconciles all definitions.
    ///
    /// Writes to definitions do this before they are acknowledged. The host of a server also calls it periodically, to
    /// complete what another server did not finish.
    pub fn reconcile_definitions(&self) -> Maintenance<'_> {
        Box::pin(self.reconcile_all_definitions())
    }

    async fn reconcile_all_definitions(&self) -> Result<(), Refusal> {
        if self.has_no_definitions().await? {
            return Ok(());
        }
        for _ in 0..PASSES_MAX {
            // The pass must see all earlier writes.
            self.objects.catalogues.invalidate();
            let definitions = self.objects.catalogues.definitions(self.objects.store.as_ref()).await;
            let definitions = definitions.map_err(ApiError::from)?;
            let mut is_settled = true;
            for definition in definitions.all() {
                is_settled &= !self.reconcile_definition(definition, &definitions).await?;
            }
            if is_settled {
                // Watches of removed kinds are notified now.
                self.catalogue().await;
                break;
            }
        }
        Ok(())
    }

    /// Whether there are no definitions and were none before. Most servers never have one and need no cache of them.
    async fn has_no_definitions(&self) -> Result<bool, ApiError> {
        if !Arc::ptr_eq(&self.objects.catalogues.last(), &Catalogue::built_in()) {
            return Ok(false);
        }
        let any = ListRequest::all(Objects::prefix(kind_of_definitions()?, None)).limit(1);
        let page = self.objects.store.list(any).await?;
        Ok(page.items.is_empty())
    }

    /// Reconciles one definition; returns whether it was changed.
    async fn reconcile_definition(
        &self,
        definition: &Definition,
        all: &Definitions,
    ) -> Result<bool, ApiError> {
        if definition.is_deleting() {
            return self.delete_definition(definition).await;
        }
        let now = self.environment.now();
        let others: Vec<_> = all.all().map(|other| &other.object).collect();
        if custom::settle(&definition.object, &others, now).is_none() {
            return Ok(false);
        }
        self.change_definition(definition, |stored| match custom::settle(stored, &others, now) {
            Some(status) => {
                let mut settled = stored.clone();
                settled["status"] = status;
                Change::Store(settled)
            }
            None => Change::Keep,
        })
        .await
    }

    /// Deletes the objects of a terminating definition, then removes its finalizer.
    async fn delete_definition(&self, definition: &Definition) -> Result<bool, ApiError> {
        let now = self.environment.now();
        let end = |stored: &Value, left| termination_write(custom::end(stored, left, now));
        let Some(kind) = definition.stored_kind() else {
            return self.change_definition(definition, |stored| end(stored, 0)).await;
        };
        let began = !custom::is_stuck(&definition.object)
            && self.change_definition(definition, |stored| end(stored, 1)).await?;
        let found = self.delete_all(definition, &kind, now).await;
        let written = self.change_definition(definition, |stored| match &found {
            Ok(left) => end(stored, *left),
            // A failure of one definition must not block the others.
            Err(error) => termination_write(custom::hold(stored, &error.refusal().message, now)),
        });
        Ok(written.await? || began)
    }

    /// Deletes all objects of a terminating definition; returns how many have finalizers.
    async fn delete_all(
        &self,
        definition: &Definition,
        kind: &Arc<Kind>,
        now: Timestamp,
    ) -> Result<usize, ApiError> {
        let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
        let mut held = 0;
        loop {
            let page = self.objects.store.list(request.clone()).await?;
            // Keys contain the definition's name, so objects belong to the definition only while it exists.
            if !self.is_stored(definition).await? {
                return Ok(held);
            }
            for item in page.items {
                let object = storage_codec::decode(kind, &item.value, item.revision)?;
                held += usize::from(self.delete_one(kind, &object, now).await?);
            }
            match page.next {
                Some(next) => request.start = Some(next),
                None => return Ok(held),
            }
        }
    }

    /// Deletes an object; returns whether it has finalizers.
    async fn delete_one(&self, kind: &Arc<Kind>, object: &Value, now: Timestamp) -> Result<bool, ApiError> {
        let options = DeleteOptions::default();
        let object_ref = ObjectRef::of(kind, object);
        let deleted = self.objects.change(object_ref, |stored| {
            if !is_same(stored, object) {
                return Ok(Change::Keep);
            }
            Ok(lifecycle::delete(stored, &options, kind, now).into())
        });
        match deleted.await {
            // It was deleted, by this or by a concurrent request.
            Ok(ChangeResult::Removed(_)) | Err(ApiError::NotFound(_)) => Ok(false),
            Ok(ChangeResult::Kept(_) | ChangeResult::Stored(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether the definition is still stored, and not another one of the same name.
    async fn is_stored(&self, definition: &Definition) -> Result<bool, ApiError> {
        match self.definition(definition.name()).await {
            Ok(stored) => Ok(is_same(&stored, &definition.object)),
            Err(ApiError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The stored definition of this name.
    async fn definition(&self, name: &str) -> Result<Value, ApiError> {
        self.objects.get(ObjectRef { kind: kind_of_definitions()?, namespace: None, name }).await
    }

    /// Writes a definition; returns whether it was changed.
    async fn change_definition(
        &self,
        definition: &Definition,
        mut decide: impl FnMut(&Value) -> Change + Send,
    ) -> Result<bool, ApiError> {
        let object_ref = ObjectRef { kind: kind_of_definitions()?, namespace: None, name: definition.name() };
        let mut is_another = false;
        let changed = self.objects.change(object_ref, |stored| {
            is_another = !is_same(stored, &definition.object);
            Ok(if is_another { Change::Keep } else { decide(stored) })
        });
        match changed.await {
            // The cached definition was replaced by another one: it is read again.
            Ok(ChangeResult::Kept(_)) => Ok(is_another),
            Ok(_) | Err(ApiError::NotFound(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// After a write to an object of this kind, reconciles definitions or refreshes flow control, if the write affects them.
    pub(crate) async fn follow_write(&self, kind: &Kind) -> Result<(), Refusal> {
        if kind.group == gantry_registry::flow_control::GROUP {
            return self.follow_flow_control_write().await;
        }
        let concerns_definitions = match &kind.nature {
            Nature::BuiltIn(_) => kind.group == DEFINITIONS,
            // A terminating definition may wait for this object to be deleted.
            Nature::Custom(_) => {
                let now = self.kind(kind.group, kind.version, kind.resource).await;
                now.is_some_and(|now| matches!(&now.nature, Nature::Custom(custom) if custom.is_terminating))
            }
        };
        if concerns_definitions { self.reconcile_definitions().await } else { Ok(()) }
    }
}

/// The kind CustomResourceDefinition.
pub(crate) fn kind_of_definitions() -> Result<&'static Kind, ApiError> {
    let kind = kinds().resource(DEFINITIONS, "v1", "customresourcedefinitions");
    kind.ok_or_else(|| ApiError::unclassified("definitions are not served"))
}

/// Whether both are states of the same object.
fn is_same(one: &Value, other: &Value) -> bool {
    Metadata::of(one).uid() == Metadata::of(other).uid()
}

/// The write for a terminating definition.
fn termination_write(ending: Ending) -> Change {
    match ending {
        Ending::Nothing => Change::Keep,
        Ending::Wait(waiting) => Change::Store(waiting),
        Ending::Release(released) if Metadata::of(&released).has_finalizers() => Change::Store(released),
        Ending::Release(_) => Change::Remove(None),
    }
}
