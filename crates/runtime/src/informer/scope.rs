//! Which objects of a resource an informer holds.

use gantry_model::{Name, Namespace};

use crate::request::ResourcePath;
use gantry_decide::gc::Resource;

/// The objects of a resource that an informer holds: all, or those of a namespace, a label selector, a field selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InformerScope {
    namespace: Option<Namespace>,
    labels: String,
    fields: String,
}

impl InformerScope {
    /// All objects.
    pub fn all() -> Self {
        Self::default()
    }

    /// The objects of a namespace.
    pub fn namespace(namespace: impl Into<Namespace>) -> Self {
        Self { namespace: Some(namespace.into()), ..Self::default() }
    }

    /// Only the objects that this label selector selects.
    #[must_use]
    pub fn labels(self, selector: impl Into<String>) -> Self {
        Self { labels: selector.into(), ..self }
    }

    /// Only the objects that this field selector selects.
    #[must_use]
    pub fn fields(self, selector: impl Into<String>) -> Self {
        Self { fields: selector.into(), ..self }
    }

    /// Only the object of this name.
    #[must_use]
    pub fn named(self, name: &Name) -> Self {
        self.fields(format!("metadata.name={name}"))
    }

    pub(super) fn path(&self, resource: &Resource) -> ResourcePath {
        ResourcePath::collection(resource, self.namespace.as_ref())
    }

    /// The query parameters. Empty ones are not sent.
    pub(super) fn query(&self) -> [(&'static str, &str); 2] {
        [("labelSelector", &self.labels), ("fieldSelector", &self.fields)]
    }
}
