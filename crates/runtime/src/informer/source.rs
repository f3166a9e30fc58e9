//! One watch of a resource, decoded once, for all informers that hold its objects.
//!
//! ```text
//! server ──lines──► Source<W> ──Arc<W>──► Informer<Pod>           (controllers)
//!                                     ├─► Informer<CachedPod>     (scheduler)
//!                                     └─► Informer<MetadataOnly>  (garbage collector)
//! ```
//!
//! A source keeps no objects. An informer that is attached while the source follows changes makes it list again; the
//! others have these objects already and notify nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use gantry_client::RequestError;
use gantry_decide::gc::Resource;
use gantry_model::{ParseError, ResourceVersion};
use tokio::sync::Notify;

use super::cached::{Cached, Wire};
use super::scope::InformerScope;
use super::{Informer, Shared};
use crate::request::Form;

pub(super) type Parse<T, W> = fn(&Resource, &Arc<W>) -> Result<T, ParseError>;

pub(super) struct Source<W> {
    pub(super) resource: Resource,
    pub(super) scope: InformerScope,
    pub(super) form: Form,
    views: Mutex<Views<W>>,
    /// Wakes the task of the source to list again.
    pub(super) relist: Notify,
}

struct Views<W> {
    all: Vec<Box<dyn View<W>>>,
    /// Whether the list was passed to all views, so that only changes follow.
    is_following: bool,
}

/// An informer from the view of its source.
trait View<W>: Send + Sync {
    fn is_alive(&self) -> bool;
    fn apply(&self, object: &Arc<W>);
    fn remove(&self, last: &Arc<W>);
    fn replace(&self, all: &[Arc<W>], version: &ResourceVersion);
    fn advance_to(&self, version: &ResourceVersion);
    fn set_error(&self, error: Option<&RequestError>);
}

struct ParsedView<T, W> {
    informer: Weak<Shared<T>>,
    parse: Parse<T, W>,
}

impl<W: Wire> Source<W> {
    pub(super) fn new(resource: Resource, scope: InformerScope, form: Form) -> Self {
        let views = Mutex::new(Views { all: Vec::new(), is_following: false });
        Self { resource, scope, form, views, relist: Notify::new() }
    }

    /// Feeds an informer from now on, for as long as anything holds it.
    pub(super) fn attach<T: Cached>(&self, informer: &Informer<T>, parse: Parse<T, W>) {
        let mut views = self.views();
        views.all.retain(|view| view.is_alive());
        views.all.push(Box::new(ParsedView { informer: Arc::downgrade(&informer.shared), parse }));
        if views.is_following {
            self.relist.notify_one();
        }
    }

    pub(super) fn begin_list(&self) {
        self.views().is_following = false;
    }

    pub(super) fn replace(&self, all: &[Arc<W>], version: &ResourceVersion) {
        let mut views = self.views();
        views.all.iter().for_each(|view| view.replace(all, version));
        views.is_following = true;
    }

    pub(super) fn apply(&self, object: &Arc<W>) {
        self.views().all.iter().for_each(|view| view.apply(object));
    }

    pub(super) fn remove(&self, last: &Arc<W>) {
        self.views().all.iter().for_each(|view| view.remove(last));
    }

    pub(super) fn advance_to(&self, version: &ResourceVersion) {
        self.views().all.iter().for_each(|view| view.advance_to(version));
    }

    /// The last request failed, or the current one has begun.
    pub(super) fn set_error(&self, error: Option<&RequestError>) {
        self.views().all.iter().for_each(|view| view.set_error(error));
    }

    fn views(&self) -> MutexGuard<'_, Views<W>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Cached, W: Wire> ParsedView<T, W> {
    /// The informer, once it has the list.
    fn synced(&self) -> Option<Informer<T>> {
        self.informer().filter(Informer::is_synced)
    }

    fn informer(&self) -> Option<Informer<T>> {
        self.informer.upgrade().map(|shared| Informer { shared })
    }

    /// The parsed object. One that cannot be parsed does not hide the others.
    fn parse(&self, informer: &Informer<T>, object: &Arc<W>) -> Option<T> {
        match (self.parse)(informer.resource(), object) {
            Ok(object) => Some(object),
            Err(error) => {
                let meta = object.meta();
                let text = |field: &Option<String>| field.clone().unwrap_or_default();
                let why = format!("{}/{}: {error}", text(&meta.namespace), text(&meta.name));
                warn_unreadable(informer.resource(), &why);
                None
            }
        }
    }
}

impl<T: Cached, W: Wire> View<W> for ParsedView<T, W> {
    fn is_alive(&self) -> bool {
        self.informer.strong_count() > 0
    }

    fn apply(&self, object: &Arc<W>) {
        let Some(informer) = self.synced() else { return };
        match self.parse(&informer, object) {
            Some(parsed) => informer.apply(parsed),
            None => informer.advance_to(object.version()),
        }
    }

    fn remove(&self, last: &Arc<W>) {
        let Some(informer) = self.synced() else { return };
        match self.parse(&informer, last) {
            Some(parsed) => informer.remove(parsed),
            None => informer.advance_to(last.version()),
        }
    }

    fn replace(&self, all: &[Arc<W>], version: &ResourceVersion) {
        let Some(informer) = self.informer() else { return };
        let parsed = all.iter().filter_map(|object| self.parse(&informer, object)).collect();
        informer.replace(parsed, version.clone());
    }

    fn advance_to(&self, version: &ResourceVersion) {
        if let Some(informer) = self.synced() {
            informer.advance_to(version.clone());
        }
    }

    fn set_error(&self, error: Option<&RequestError>) {
        let Some(informer) = self.informer() else { return };
        informer.shared.error.send_if_modified(|known| {
            let is_change = known.is_some() || error.is_some();
            *known = error.cloned();
            is_change
        });
    }
}

pub(super) fn warn_unreadable(resource: &Resource, why: &str) {
    let resource = &resource.plural;
    tracing::warn!(resource, why, "an object cannot be read and is treated as if it were not there");
}
