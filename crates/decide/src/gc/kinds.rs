//! Which kinds are served, and where their objects live.

use std::collections::BTreeMap;

use super::discovery::Discovery;

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In no namespace.
    Cluster,
    /// In one namespace each.
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
    /// Where its objects live.
    pub scope: Scope,
}

/// Tells what is known of a kind.
pub trait Kinds {
    /// Where objects of this kind live; `None` if no such kind is served, as far as is known.
    fn scope(&self, api_version: &str, kind: &str) -> Option<Scope>;
}

/// The kinds that discovery has found, in every version they are served in.
///
/// A reference may name a version that is not the preferred one, so versions that are not watched count as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedKinds {
    by_kind: BTreeMap<(String, String), Resource>,
}

impl Resource {
    /// The group, empty for the core.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether this is a part of another resource, like `pods/status`.
    pub fn is_subresource(&self) -> bool {
        self.plural.contains('/')
    }
}

impl ServedKinds {
    /// Takes over what a pass of discovery found; groups that could not be asked keep the kinds they had.
    pub fn update(&mut self, discovery: &Discovery) {
        if discovery.offers.is_empty() {
            return;
        }
        self.by_kind.retain(|_, resource| discovery.failed_groups.contains(resource.group()));
        for resource in discovery.offers.iter().map(|offer| &offer.resource) {
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

impl Kinds for ServedKinds {
    fn scope(&self, api_version: &str, kind: &str) -> Option<Scope> {
        self.resource(api_version, kind).map(|resource| resource.scope)
    }
}
