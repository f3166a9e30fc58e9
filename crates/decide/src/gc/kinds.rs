//! The served kinds and their scope.

use std::collections::BTreeMap;

use super::discovery::Discovery;

/// Whether objects of a kind have a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceScope {
    /// Its objects have no namespace.
    Cluster,
    /// Its objects are in a namespace.
    Namespaced,
}

/// A resource of the API, in one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// Group and version.
    pub api_version: String,
    /// The kind of its objects.
    pub kind: String,
    /// Its name in URLs.
    pub plural: String,
    /// Whether its objects are in a namespace.
    pub scope: ResourceScope,
}

/// Looks up the scope of a kind.
pub trait KindLookup {
    /// The scope of this kind; `None` if no such kind is known to be served.
    fn scope(&self, api_version: &str, kind: &str) -> Option<ResourceScope>;
}

/// The kinds that discovery has found, in every served version.
///
/// A reference may name a version that is not preferred, so versions that are not watched are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedKinds {
    by_kind: BTreeMap<(String, String), Resource>,
}

impl Resource {
    /// The group, empty for the core.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether this is a subresource, like `pods/status`.
    pub fn is_subresource(&self) -> bool {
        self.plural.contains('/')
    }
}

impl ServedKinds {
    /// Replaces the kinds by those of a discovery pass; groups whose discovery failed keep theirs.
    pub fn update(&mut self, discovery: &Discovery) {
        if discovery.resources.is_empty() {
            return;
        }
        self.by_kind.retain(|_, resource| discovery.failed_groups.contains(resource.group()));
        for resource in discovery.resources.iter().map(|offer| &offer.resource) {
            if !resource.is_subresource() {
                let kind = (resource.api_version.clone(), resource.kind.clone());
                self.by_kind.insert(kind, resource.clone());
            }
        }
    }

    /// The resource that serves objects of this kind.
    pub fn resource(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        self.by_kind.get(&(api_version.to_owned(), kind.to_owned()))
    }
}

impl KindLookup for ServedKinds {
    fn scope(&self, api_version: &str, kind: &str) -> Option<ResourceScope> {
        self.resource(api_version, kind).map(|resource| resource.scope)
    }
}
