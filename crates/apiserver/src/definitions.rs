//! The life of definitions: their names are accepted, their kinds are served, and when they go, their objects go first.
//!
//! What becomes of a definition is the registry's to say; here it is written. Every pass looks at what is, so one that
//! was cut short is made good by the next.

use std::sync::Arc;

use gantry_registry::custom::{self, Ending};
use gantry_registry::kinds::{Kind, Nature, kinds};
use gantry_registry::lifecycle::{self, DeleteOptions};
use gantry_registry::{Refusal, Timestamp};
use gantry_store::ListRequest;
use serde_json::Value;

use crate::ApiServer;
use crate::catalogue::{Catalogue, DEFINITIONS, Definition, Definitions};
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
        if self.has_nothing_custom().await? {
            return Ok(());
        }
        for _ in 0..PASSES_MAX {
            // What was written before this pass began is to be seen by it.
            self.objects.catalogues.expect_more();
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

    /// Whether there is no definition, and was none when somebody last asked. Most servers never have one, and should not
    /// have to follow them.
    async fn has_nothing_custom(&self) -> Result<bool, Refusal> {
        if !Arc::ptr_eq(&self.objects.catalogues.last(), &Catalogue::built_in()) {
            return Ok(false);
        }
        let any = ListRequest::all(Objects::prefix(kind_of_definitions()?, None)).limit(1);
        let page = self.objects.store.list(any).await.map_err(|error| failed(&error))?;
        Ok(page.items.is_empty())
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
        let end = |stored: &Value, left| ended(custom::end(stored, left, now));
        let Some(kind) = definition.stored_kind() else {
            return self.change_definition(definition, |stored| end(stored, 0)).await;
        };
        let began = !custom::is_stuck(&definition.object)
            && self.change_definition(definition, |stored| end(stored, 1)).await?;
        let found = self.delete_all(definition, &kind, now).await;
        let said = self.change_definition(definition, |stored| match &found {
            Ok(left) => end(stored, *left),
            // The others should not have to wait for this one.
            Err(refusal) => ended(custom::hold(stored, &refusal.message, now)),
        });
        Ok(said.await? || began)
    }

    /// Deletes all objects of a definition that goes, and says how many of them are held.
    async fn delete_all(
        &self,
        definition: &Definition,
        kind: &Arc<Kind>,
        now: Timestamp,
    ) -> Result<usize, Refusal> {
        let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
        let mut held = 0;
        loop {
            let page = self.objects.store.list(request.clone()).await.map_err(|error| failed(&error))?;
            // Objects are found under its name. As long as it is there, none of them can be of another of that name.
            if !self.is_still_there(definition).await? {
                return Ok(held);
            }
            for item in page.items {
                let object = served::parse(kind, &item.value, item.revision)?;
                held += usize::from(self.delete_one(kind, &object, now).await?);
            }
            match page.next {
                Some(next) => request.start = Some(next),
                None => return Ok(held),
            }
        }
    }

    /// Deletes an object, and says whether it is held.
    async fn delete_one(&self, kind: &Arc<Kind>, object: &Value, now: Timestamp) -> Result<bool, Refusal> {
        let options = DeleteOptions::default();
        let text = |field: &str| object["metadata"][field].as_str();
        let place = Place { kind, namespace: text("namespace"), name: text("name").unwrap_or_default() };
        let deleted = self.objects.change(place, |stored| {
            if stored["metadata"]["uid"] != object["metadata"]["uid"] {
                return Ok(Change::Keep);
            }
            Ok(lifecycle::delete(stored, &options, kind, now).into())
        });
        match deleted.await {
            Ok(Outcome::Removed(_)) => Ok(false),
            Ok(Outcome::Kept(_) | Outcome::Stored(_)) => Ok(true),
            // Somebody was faster.
            Err(refusal) if refusal.code == 404 => Ok(false),
            Err(refusal) => Err(refusal),
        }
    }

    /// Whether a definition is stored, and not another of its name.
    async fn is_still_there(&self, definition: &Definition) -> Result<bool, Refusal> {
        match self.definition(definition.name()).await {
            Ok(stored) => Ok(is_same(&stored, &definition.object)),
            Err(refusal) if refusal.code == 404 => Ok(false),
            Err(refusal) => Err(refusal),
        }
    }

    /// The definition of this name, as it is stored at this moment.
    async fn definition(&self, name: &str) -> Result<Value, Refusal> {
        self.objects.get(Place { kind: kind_of_definitions()?, namespace: None, name }).await
    }

    /// Writes a definition, and says whether there was anything to write.
    async fn change_definition(
        &self,
        definition: &Definition,
        mut decide: impl FnMut(&Value) -> Change,
    ) -> Result<bool, Refusal> {
        let place = Place { kind: kind_of_definitions()?, namespace: None, name: definition.name() };
        let mut is_another = false;
        let changed = self.objects.change(place, |stored| {
            is_another = !is_same(stored, &definition.object);
            Ok(if is_another { Change::Keep } else { decide(stored) })
        });
        match changed.await {
            // Whoever knows another one should look again.
            Ok(Outcome::Kept(_)) => Ok(is_another),
            Ok(_) => Ok(true),
            Err(refusal) if refusal.code == 404 => Ok(true),
            Err(refusal) => Err(refusal),
        }
    }

    /// Does what a write to objects of this kind asks for besides: definitions are settled.
    pub(crate) async fn follow_write(&self, kind: &Kind) -> Result<(), Refusal> {
        let concerns_definitions = match &kind.nature {
            Nature::BuiltIn(_) => kind.group == DEFINITIONS,
            // The last object that is held may be what its definition waits for, perhaps since a moment ago.
            Nature::Custom(_) => {
                let now = self.kind(kind.group, kind.version, kind.resource).await;
                now.is_some_and(|now| matches!(&now.nature, Nature::Custom(custom) if custom.is_terminating))
            }
        };
        if concerns_definitions { self.settle_definitions().await } else { Ok(()) }
    }
}

/// The kind of definitions themselves.
pub(crate) fn kind_of_definitions() -> Result<&'static Kind, Refusal> {
    let kind = kinds().resource(DEFINITIONS, "v1", "customresourcedefinitions");
    kind.ok_or_else(|| Refusal::server_error("definitions are not served"))
}

/// Whether two are states of one definition.
fn is_same(one: &Value, other: &Value) -> bool {
    one["metadata"]["uid"] == other["metadata"]["uid"]
}

/// What is written of a definition that goes.
fn ended(ending: Ending) -> Change {
    match ending {
        Ending::Nothing => Change::Keep,
        Ending::Wait(waiting) => Change::Store(waiting),
        Ending::Release(released) if is_held(&released) => Change::Store(released),
        Ending::Release(_) => Change::Remove(None),
    }
}

fn is_held(definition: &Value) -> bool {
    definition["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}
