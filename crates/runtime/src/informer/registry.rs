//! All informers of a process, shared by all components.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use gantry_decide::gc::Resource;
use tokio::task::JoinSet;

use super::cached::MetadataOnly;
use super::source::{self, Decoder, Source};
use super::{Informer, InformerScope, Typed, reflector};
use crate::api::Api;
use crate::clock::Clock;
use crate::request::Form;
use crate::shutdown::Shutdown;

type Start = Box<dyn FnOnce(Api, Clock, Shutdown) -> BoxFuture<'static, ()> + Send>;

/// The informers of a process: one watch per resource, whatever types its objects are parsed into. Cheap to clone; clones
/// share their informers.
///
/// [`of`](Self::of) returns the informer of a type while a component is assembled; [`start`](Self::start) then opens the
/// watches that no other component has opened.
#[derive(Clone, Default)]
pub struct Informers {
    registry: Arc<Mutex<Registry>>,
}

#[derive(Default)]
struct Registry {
    keeps_managed_fields: bool,
    by_type: HashMap<(TypeId, InformerScope), Box<dyn Any + Send>>,
    sources: BTreeMap<(Resource, InformerScope), SourceEntry>,
    starts: Vec<Start>,
}

/// A source and its wire type.
struct SourceEntry {
    source: Arc<Source>,
    wire: TypeId,
}

impl Informers {
    /// No informers yet. The managed fields of objects will not be decoded.
    pub fn new() -> Self {
        Self::default()
    }

    /// No informers yet. The managed fields of objects will be decoded.
    pub fn with_managed_fields() -> Self {
        let registry = Registry { keeps_managed_fields: true, ..Registry::default() };
        Self { registry: Arc::new(Mutex::new(registry)) }
    }

    /// The shared informer of all objects of this type.
    pub fn of<T: Typed>(&self) -> Informer<T> {
        self.scoped(InformerScope::all())
    }

    /// The shared informer of some objects of this type.
    pub fn scoped<T: Typed>(&self, scope: InformerScope) -> Informer<T> {
        let mut registry = self.registry();
        let key = (TypeId::of::<T>(), scope.clone());
        let known = registry.by_type.get(&key).and_then(|any| any.downcast_ref::<Informer<T>>());
        if let Some(informer) = known {
            return informer.clone();
        }
        let informer = Informer::<T>::scoped(T::resource(), scope.clone());
        registry.by_type.insert(key, Box::new(informer.clone()));
        let decoder = if registry.keeps_managed_fields {
            Decoder::with_managed_fields::<T::Wire>()
        } else {
            Decoder::of::<T::Wire>()
        };
        let wire = (TypeId::of::<T::Wire>(), T::FORM, decoder);
        registry.source(T::resource(), scope, wire).attach(&informer, source::parse);
        informer
    }

    /// An informer of the metadata of all objects of a resource that another component watches; `None` if none does.
    pub fn metadata_of(&self, resource: &Resource) -> Option<Informer<MetadataOnly>> {
        let registry = self.registry();
        let entry = registry.sources.get(&(resource.clone(), InformerScope::all()))?;
        let informer = Informer::new(resource.clone());
        entry.source.attach(&informer, MetadataOnly::of_any);
        Some(informer)
    }

    /// Starts the watches that are not started yet; the tasks end at shutdown.
    pub fn start(&self, tasks: &mut JoinSet<()>, api: &Api, clock: &Clock, shutdown: &Shutdown) {
        for start in std::mem::take(&mut self.registry().starts) {
            let (informers, run) = (self.clone(), start(api.clone(), clock.clone(), shutdown.clone()));
            tasks.spawn(async move {
                // The informers exist at least as long as their watch.
                let _informers = informers;
                run.await;
            });
        }
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    /// The source of this wire type, which is started with the others.
    fn source(
        &mut self,
        resource: Resource,
        scope: InformerScope,
        (wire, form, decoder): (TypeId, Form, Decoder),
    ) -> Arc<Source> {
        let key = (resource.clone(), scope.clone());
        if let Some(entry) = self.sources.get(&key).filter(|entry| entry.wire == wire) {
            return entry.source.clone();
        }
        let source = Arc::new(Source::new(resource, scope, form, decoder));
        self.sources.insert(key, SourceEntry { source: source.clone(), wire });
        let running = source.clone();
        self.starts.push(Box::new(move |api, clock, shutdown| {
            Box::pin(async move { reflector::run(&running, &api, &clock, &shutdown).await })
        }));
        source
    }
}

impl fmt::Debug for Informers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informers").field("informers", &self.registry().by_type.len()).finish_non_exhaustive()
    }
}
