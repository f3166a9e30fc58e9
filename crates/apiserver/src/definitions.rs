//! The life of definitions: their names are accepted, their kinds are served, and when they go, their objects go first.
//!
//! What becomes of a definition is the registry's to say; here it is written. Every pass looks at what is, so one that
//! was cut short is made good by the next.

use std::sync::Arc;

use gantry_registry::custom::{self, Ending};
use gantry_registry::kinds::{Kind, Nature, kinds};
use gantry_registry::lifecycle::{self, DeleteOptions, Deletion};
use gantry_registry::{Moment, Refusal};
use gantry_store::ListRequest;
use serde_json::Value;

use crate::ApiServer;
use crate::catalogue::{DEFINITIONS, Definition, Definitions};
use crate::objects::{Change, Objects, Outcome, Place, failed};
use crate::served;

/// How often definitions are looked at anew because one of them changed: a name that one gives up is another's.
const PASSES_MAX: usize = 16;
/// How many objects are read at a time.
const PAGE: usize = 500;

impl ApiServer {
    /// Brings all definitions to where they should be.
    ///
    /// A write that changes anything about them does this before it is answered. Whoever runs a server calls it every now
    /// and then, for what another server left undone when it was killed.
    pub async fn settle_definitions(&self) -> Result<(), Refusal> {
        for _ in 0..PASSES_MAX {
            // What was written before this pass began is to be seen by it.
            drop(self.objects.catalogues.writing());
            let definitions = self.objects.catalogues.definitions(self.objects.store.as_ref()).await;
            let definitions = definitions.map_err(|error| failed(&error))?;
            let mut is_settled = true;
            for definition in definitions.all() {
                is_settled &= !self.settle_definition(definition, &definitions).await?;
            }
            if is_settled {
                // Whoever watches a kind that is no more is told now, and not when somebody asks next.
                self.catalogue().await;
                break;
            }
        }
        Ok(())
    }

    /// Brings one definition a step further, and says whether there was one to make.
    async fn settle_definition(&self, definition: &Definition, all: &Definitions) -> Result<bool, Refusal> {
        if definition.goes() {
            return self.end_definition(definition).await;
        }
        let now = self.surroundings.now();
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

    /// Deletes the objects of a definition that goes, and lets it go when there are none.
    async fn end_definition(&self, definition: &Definition) -> Result<bool, Refusal> {
        let now = self.surroundings.now();
        let end = |stored: &Value, left| match custom::end(stored, left, now) {
            Ending::Nothing => Change::Keep,
            Ending::Wait(waiting) => Change::Store(waiting),
            Ending::Release(released) if is_held(&released) => Change::Store(released),
            Ending::Release(_) => Change::Remove(None),
        };
        let Some(kind) = definition.stored_kind() else {
            return self.change_definition(definition, |stored| end(stored, 0)).await;
        };
        let began = self.change_definition(definition, |stored| end(stored, 1)).await?;
        let left = self.delete_all(&kind, now).await?;
        Ok(self.change_definition(definition, |stored| end(stored, left)).await? || began)
    }

    /// Deletes all objects of a kind, and says how many of them are held.
    async fn delete_all(&self, kind: &Arc<Kind>, now: Moment) -> Result<usize, Refusal> {
        let options = DeleteOptions::default();
        let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
        let mut held = 0;
        loop {
            let page = self.objects.store.list(request.clone()).await.map_err(|error| failed(&error))?;
            for item in page.items {
                let object = served::parse(kind, &item.value, item.revision)?;
                let text = |field: &str| object["metadata"][field].as_str();
                let place =
                    Place { kind, namespace: text("namespace"), name: text("name").unwrap_or_default() };
                let deleted = self.objects.change(place, |stored| {
                    Ok(match lifecycle::delete(stored, &options, kind, now) {
                        Deletion::Unchanged => Change::Keep,
                        Deletion::Linger(object) => Change::Store(object),
                        Deletion::Remove(before) => Change::Remove(before),
                    })
                });
                match deleted.await {
                    Ok(Outcome::Removed(_)) => {}
                    Ok(Outcome::Kept(_) | Outcome::Stored(_)) => held += 1,
                    // Somebody was faster.
                    Err(refusal) if refusal.code == 404 => {}
                    Err(refusal) => return Err(refusal),
                }
            }
            match page.next {
                Some(next) => request.start = Some(next),
                None => return Ok(held),
            }
        }
    }

    /// Writes a definition, and says whether there was anything to write.
    async fn change_definition(
        &self,
        definition: &Definition,
        mut decide: impl FnMut(&Value) -> Change,
    ) -> Result<bool, Refusal> {
        let Some(kind) = kinds().resource(DEFINITIONS, "v1", "customresourcedefinitions") else {
            return Ok(false);
        };
        let place = Place { kind, namespace: None, name: definition.name() };
        match self.objects.change(place, |stored| Ok(decide(stored))).await {
            Ok(Outcome::Kept(_)) => Ok(false),
            Ok(_) => Ok(true),
            Err(refusal) if refusal.code == 404 => Ok(true),
            Err(refusal) => Err(refusal),
        }
    }

    /// Does what a write to objects of this kind asks for besides: definitions are settled.
    pub(crate) async fn follow_write(&self, kind: &Kind) -> Result<(), Refusal> {
        let concerns_definitions = match &kind.nature {
            Nature::BuiltIn(_) => kind.group == DEFINITIONS,
            // The last object that is held may be what its definition waits for.
            Nature::Custom(custom) => custom.goes,
        };
        if concerns_definitions { self.settle_definitions().await } else { Ok(()) }
    }
}

fn is_held(definition: &Value) -> bool {
    definition["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}
