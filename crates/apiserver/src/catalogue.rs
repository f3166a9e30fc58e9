//! The kinds that are served now: built-in ones and those of CustomResourceDefinitions.
//!
//! A catalogue is immutable and built when the definitions have changed; a request uses the same one from start to end.
//! Its discovery and OpenAPI documents are built once, on first use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use gantry_json::Value;
use gantry_schema::custom;
use gantry_schema::kinds::{Kind, Kinds, Nature, kinds};
use gantry_store::{Error, Revision, Store};
use tokio::sync::watch;

use crate::ApiServer;
use crate::handlers::{DiscoveryDocuments, OpenApiCache};
use crate::metadata::Metadata;
use crate::store_cache::{PendingWrite, Projection, StoreCache};

/// The API group of definitions.
pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io";

/// All served kinds.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub(crate) kinds: Kinds,
    /// The discovery documents.
    documents: OnceLock<DiscoveryDocuments>,
    /// The OpenAPI documents.
    pub(crate) openapi: OpenApiCache,
}

/// The current catalogue and the cache of definitions it is built from.
#[derive(Debug)]
pub(crate) struct Catalogues {
    definitions: StoreCache<Definitions>,
    last: Mutex<(Arc<Definitions>, Arc<Catalogue>)>,
    /// Serializes reading the definitions and replacing the catalogue.
    rebuilding: tokio::sync::Mutex<()>,
    /// Notifies watches of a new catalogue.
    changes: watch::Sender<()>,
}

/// All definitions by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(BTreeMap<String, Arc<Definition>>);

/// A definition and the kinds it defines.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) object: Value,
    kinds: OnceLock<Vec<Arc<Kind>>>,
}

static BUILT_IN: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::new([], None)));

impl Catalogue {
    fn new(custom: impl IntoIterator<Item = Arc<Kind>>, built_in: Option<Arc<Self>>) -> Self {
        Self { kinds: kinds().and(custom), documents: OnceLock::new(), openapi: OpenApiCache::new(built_in) }
    }

    /// The catalogue of the built-in kinds.
    pub(crate) fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    pub(crate) fn documents(&self) -> &DiscoveryDocuments {
        self.documents.get_or_init(|| DiscoveryDocuments::of(&self.kinds))
    }
}

impl Default for Catalogues {
    fn default() -> Self {
        Self {
            definitions: StoreCache::default(),
            last: Mutex::new((Arc::default(), Catalogue::built_in())),
            rebuilding: tokio::sync::Mutex::default(),
            changes: watch::Sender::default(),
        }
    }
}

impl Catalogues {
    /// All definitions, including every write of this server that was acknowledged.
    pub(crate) async fn definitions(&self, store: &dyn Store) -> Result<Arc<Definitions>, Error> {
        self.definitions.current(store).await
    }

    /// Makes the next read wait for all writes that are in the store at that time, including writes of other servers.
    pub(crate) fn invalidate(&self) {
        drop(self.definitions.pending_write());
    }

    /// Marks the start of a write to a definition.
    pub(crate) fn pending_write(&self) -> PendingWrite<'_> {
        self.definitions.pending_write()
    }

    /// The resource of this group, version and plural name, without reading the store.
    pub(crate) fn known(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Kind>> {
        let of_last = || self.last().kinds.kept(group, version, resource);
        kinds().kept(group, version, resource).or_else(of_last)
    }

    /// Completes when a custom kind is removed or its definition changes.
    pub(crate) fn kind_removed(self: Arc<Self>, kind: &Kind) -> impl Future<Output = ()> + Send + 'static {
        let Kind { group, version, resource, .. } = *kind;
        let edition = edition_of(kind);
        let mut changes = self.changes.subscribe();
        async move {
            while self.known(group, version, resource).as_deref().and_then(edition_of) == edition {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        }
    }

    /// The catalogue that was returned last.
    pub(crate) fn last(&self) -> Arc<Catalogue> {
        Arc::clone(&self.locked().1)
    }

    fn locked(&self) -> MutexGuard<'_, (Arc<Definitions>, Arc<Catalogue>)> {
        // The pair is replaced atomically, so it is valid even after a panic.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the catalogue for these definitions.
    fn with(&self, definitions: Option<Arc<Definitions>>) -> Arc<Catalogue> {
        let mut last = self.locked();
        if let Some(definitions) = definitions.filter(|definitions| !Arc::ptr_eq(definitions, &last.0)) {
            let custom: Vec<_> = definitions.all().flat_map(Definition::kinds).cloned().collect();
            let catalogue = if custom.is_empty() {
                Catalogue::built_in()
            } else {
                Arc::new(Catalogue::new(custom, Some(Catalogue::built_in())))
            };
            *last = (definitions, catalogue);
            self.changes.send_replace(());
        }
        Arc::clone(&last.1)
    }
}

impl ApiServer {
    /// Returns the current catalogue; the last one if the store fails.
    pub(crate) async fn catalogue(&self) -> Arc<Catalogue> {
        let catalogues = &self.objects.catalogues;
        let _rebuilding = catalogues.rebuilding.lock().await;
        let definitions = catalogues.definitions(self.objects.store.as_ref()).await;
        catalogues.with(definitions.ok())
    }

    /// Returns the resource of this group, version and plural name, if it is served.
    pub(crate) async fn kind(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Kind>> {
        if let Some(kind) = kinds().kept(group, version, resource) {
            return Some(kind);
        }
        if let Some(kind) = self.catalogue().await.kinds.kept(group, version, resource) {
            return Some(kind);
        }
        // Another server may have defined it just now: before it is reported as unknown, the store is read.
        self.objects.catalogues.invalidate();
        self.catalogue().await.kinds.kept(group, version, resource)
    }
}

impl Definitions {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Definition> {
        self.0.values().map(AsRef::as_ref)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Definition> {
        self.0.get(name).map(AsRef::as_ref)
    }
}

impl Definition {
    fn kinds(&self) -> &[Arc<Kind>] {
        self.kinds.get_or_init(|| custom::kinds_of(&self.object, &intern))
    }

    pub(crate) fn name(&self) -> &str {
        Metadata::of(&self.object).name()
    }

    /// The revision of its last write.
    pub(crate) fn revision(&self) -> Revision {
        let version = Metadata::of(&self.object).resource_version().parse().ok();
        version.and_then(Revision::new).unwrap_or(Revision::EMPTY)
    }

    /// Whether it is being deleted.
    pub(crate) fn is_deleting(&self) -> bool {
        Metadata::of(&self.object).deletion_timestamp().is_some()
    }

    /// The kind as which its objects are stored, if any version is stored.
    pub(crate) fn stored_kind(&self) -> Option<Arc<Kind>> {
        custom::stored_kind_of(&self.object, &intern)
    }
}

impl Projection for Definitions {
    fn includes(kind: &Kind) -> bool {
        kind.group == DEFINITIONS
    }

    fn add(&mut self, object: &Value) {
        let definition = Definition { object: object.clone(), kinds: OnceLock::new() };
        self.0.insert(Metadata::of(object).name().to_owned(), Arc::new(definition));
    }

    fn remove(&mut self, object: &Value) {
        self.0.remove(Metadata::of(object).name());
    }
}

/// Interns a name for the lifetime of the program. There are few of them, and they are used repeatedly.
fn intern(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // Inserting is atomic, so the set is valid even after a panic.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let new: &'static str = name.to_owned().leak();
    names.insert(new);
    new
}

/// The edition of the definition that a custom kind is from.
fn edition_of(kind: &Kind) -> Option<custom::Edition> {
    match &kind.nature {
        Nature::BuiltIn(_) => None,
        Nature::Custom(custom) => Some(custom.edition.clone()),
    }
}
