//! What is served at this moment: the kinds that are compiled in, and those that definitions bring.
//!
//! A catalogue is made when definitions have changed and somebody asks, and stays as it is: a request sees one of them
//! from its beginning to its end. What is said about it (discovery, OpenAPI) is made once, when it is first wanted.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use gantry_registry::custom;
use gantry_registry::kinds::{Kind, Kinds, kinds};
use gantry_store::{Error, Store};
use serde_json::Value;

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
        Self { definitions: Mirror::default(), last: Mutex::new((Arc::default(), Catalogue::built_in())) }
    }
}

impl Catalogues {
    /// All definitions, with every write of this server that was answered before.
    pub(crate) async fn definitions(&self, store: &dyn Store) -> Result<Arc<Definitions>, Error> {
        self.definitions.current(store).await
    }

    /// A write of a definition is under way.
    pub(crate) fn writing(&self) -> Writing<'_> {
        self.definitions.writing()
    }

    /// What these definitions make of what is served.
    fn with(&self, definitions: Option<Arc<Definitions>>) -> Arc<Catalogue> {
        // What is in there is whole at any moment, whoever panicked.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(definitions) = definitions.filter(|definitions| !Arc::ptr_eq(definitions, &last.0)) {
            let custom: Vec<_> =
                definitions.all().flat_map(|definition| definition.kinds()).cloned().collect();
            let catalogue = if custom.is_empty() {
                Catalogue::built_in()
            } else {
                Arc::new(Catalogue::new(custom, Some(Catalogue::built_in())))
            };
            *last = (definitions, catalogue);
        }
        Arc::clone(&last.1)
    }
}

impl ApiServer {
    /// What is served now. While the store cannot be asked, it is what was served last.
    pub(crate) async fn catalogue(&self) -> Arc<Catalogue> {
        let definitions = self.catalogues.definitions(self.objects.store.as_ref()).await;
        self.catalogues.with(definitions.ok())
    }

    /// The resource of this group, version and plural, if it is served.
    pub(crate) async fn kind(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Kind>> {
        match kinds().kept(group, version, resource) {
            Some(kind) => Some(kind),
            None => self.catalogue().await.kinds.kept(group, version, resource),
        }
    }
}

impl Definitions {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Definition> {
        self.0.values().map(AsRef::as_ref)
    }
}

impl Definition {
    fn kinds(&self) -> &[Arc<Kind>] {
        self.kinds.get_or_init(|| custom::kinds_of(&self.object))
    }

    pub(crate) fn name(&self) -> &str {
        name_of(&self.object)
    }

    /// Whether it is being deleted.
    pub(crate) fn goes(&self) -> bool {
        self.object["metadata"]["deletionTimestamp"].is_string()
    }

    /// The kind as which its objects are stored, if there can be any.
    pub(crate) fn stored_kind(&self) -> Option<Arc<Kind>> {
        custom::stored_kind_of(&self.object)
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

fn name_of(definition: &Value) -> &str {
    definition["metadata"]["name"].as_str().unwrap_or_default()
}
