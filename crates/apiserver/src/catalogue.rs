//! What is served at this moment: the kinds that are compiled in, and those that definitions bring.
//!
//! A catalogue is made when definitions have changed and somebody asks, and stays as it is: a request sees one of them
//! from its beginning to its end. What is said about it (discovery, OpenAPI) is made once, when it is first wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use gantry_registry::custom;
use gantry_registry::kinds::{Kind, Kinds, Nature, kinds};
use gantry_store::{Error, Revision, Store};
use serde_json::Value;
use tokio::sync::watch;

use crate::ApiServer;
use crate::handlers::{Listing, Shelf};
use crate::mirror::{Mirror, Picture, Writing};

/// The group of definitions.
pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io";

/// Everything that is served.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub(crate) kinds: Kinds,
    /// What discovery says of it.
    listing: OnceLock<Listing>,
    /// What OpenAPI says of it.
    pub(crate) shelf: Shelf,
}

/// The catalogue, and what keeps it current.
#[derive(Debug)]
pub(crate) struct Catalogues {
    definitions: Mirror<Definitions>,
    last: Mutex<(Arc<Definitions>, Arc<Catalogue>)>,
    /// Who looks at the definitions says what came of it before the next one looks.
    turn: tokio::sync::Mutex<()>,
    /// Tells whoever is served for long that there is a new catalogue.
    changes: watch::Sender<()>,
}

/// All definitions by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(BTreeMap<String, Arc<Definition>>);

/// A definition, and the kinds that it brings.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) object: Value,
    kinds: OnceLock<Vec<Arc<Kind>>>,
}

static BUILT_IN: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::new([], None)));

impl Catalogue {
    fn new(custom: impl IntoIterator<Item = Arc<Kind>>, built_in: Option<Arc<Self>>) -> Self {
        Self { kinds: kinds().and(custom), listing: OnceLock::new(), shelf: Shelf::new(built_in) }
    }

    /// What is served whatever definitions there are.
    pub(crate) fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    pub(crate) fn listing(&self) -> &Listing {
        self.listing.get_or_init(|| Listing::of(&self.kinds))
    }
}

impl Default for Catalogues {
    fn default() -> Self {
        Self {
            definitions: Mirror::default(),
            last: Mutex::new((Arc::default(), Catalogue::built_in())),
            turn: tokio::sync::Mutex::default(),
            changes: watch::Sender::default(),
        }
    }
}

impl Catalogues {
    /// All definitions, with every write of this server that was answered before.
    pub(crate) async fn definitions(&self, store: &dyn Store) -> Result<Arc<Definitions>, Error> {
        self.definitions.current(store).await
    }

    /// Makes the next look wait for everything that the store has by then, whoever wrote it.
    pub(crate) fn expect_more(&self) {
        drop(self.definitions.writing());
    }

    /// A write of a definition is under way.
    pub(crate) fn writing(&self) -> Writing<'_> {
        self.definitions.writing()
    }

    /// The resource of this group, version and plural, as far as is known without asking the store.
    pub(crate) fn known(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Kind>> {
        let of_last = || self.last().kinds.kept(group, version, resource);
        kinds().kept(group, version, resource).or_else(of_last)
    }

    /// Waits until a custom kind is no longer served as it was.
    pub(crate) fn retired(self: Arc<Self>, kind: &Kind) -> impl Future<Output = ()> + Send + 'static {
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

    /// The catalogue that somebody asked for last.
    pub(crate) fn last(&self) -> Arc<Catalogue> {
        Arc::clone(&self.locked().1)
    }

    fn locked(&self) -> MutexGuard<'_, (Arc<Definitions>, Arc<Catalogue>)> {
        // What is in there is whole at any moment, whoever panicked.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What these definitions make of what is served.
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
    /// What is served now. While the store cannot be asked, it is what was served last.
    pub(crate) async fn catalogue(&self) -> Arc<Catalogue> {
        let catalogues = &self.objects.catalogues;
        let _turn = catalogues.turn.lock().await;
        let definitions = catalogues.definitions(self.objects.store.as_ref()).await;
        catalogues.with(definitions.ok())
    }

    /// The resource of this group, version and plural, if it is served.
    pub(crate) async fn kind(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Kind>> {
        if let Some(kind) = kinds().kept(group, version, resource) {
            return Some(kind);
        }
        if let Some(kind) = self.catalogue().await.kinds.kept(group, version, resource) {
            return Some(kind);
        }
        // Another server may have defined it a moment ago: before anybody is told that it is not there, all is taken in.
        self.objects.catalogues.expect_more();
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
        self.kinds.get_or_init(|| custom::kinds_of(&self.object, &kept))
    }

    pub(crate) fn name(&self) -> &str {
        name_of(&self.object)
    }

    /// When it was last written.
    pub(crate) fn revision(&self) -> Revision {
        let version = self.object["metadata"]["resourceVersion"].as_str();
        version.and_then(|version| Revision::new(version.parse().ok()?)).unwrap_or(Revision::EMPTY)
    }

    /// Whether it is being deleted.
    pub(crate) fn goes(&self) -> bool {
        self.object["metadata"]["deletionTimestamp"].is_string()
    }

    /// The kind as which its objects are stored, if there can be any.
    pub(crate) fn stored_kind(&self) -> Option<Arc<Kind>> {
        custom::stored_kind_of(&self.object, &kept)
    }
}

impl Picture for Definitions {
    fn shows(kind: &Kind) -> bool {
        kind.group == DEFINITIONS
    }

    fn add(&mut self, object: &Value) {
        let definition = Definition { object: object.clone(), kinds: OnceLock::new() };
        self.0.insert(name_of(object).to_owned(), Arc::new(definition));
    }

    fn remove(&mut self, object: &Value) {
        self.0.remove(name_of(object));
    }
}

/// A name, for as long as the program runs. Each is kept once: they are few and short, and come again and again.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // A set is whole at any moment, whoever panicked.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let new: &'static str = name.to_owned().leak();
    names.insert(new);
    new
}

/// Which edition of its definition a custom kind is from.
fn edition_of(kind: &Kind) -> Option<custom::Edition> {
    match &kind.nature {
        Nature::BuiltIn(_) => None,
        Nature::Custom(custom) => Some(custom.edition.clone()),
    }
}

fn name_of(definition: &Value) -> &str {
    definition["metadata"]["name"].as_str().unwrap_or_default()
}
