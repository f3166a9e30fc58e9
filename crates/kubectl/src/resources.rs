//! The resource types of a server, and lookup by their names (K0.5).

use gantry_client::collection_path;
use gantry_formats::percent;
use gantry_json::Value;

use crate::failure::Failure;
use crate::field::{list, text};

/// One type of resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResource {
    /// Its group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// `deployments`.
    pub plural: String,
    /// `deployment`.
    pub singular: String,
    /// `Deployment`.
    pub kind: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// `deploy`.
    pub short_names: Vec<String>,
    /// `all`.
    pub categories: Vec<String>,
    /// The supported verbs.
    pub verbs: Vec<String>,
}

/// All types of a server: the core group first, then the others in the server's order, preferred versions first.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    all: Vec<ApiResource>,
}

impl ApiResource {
    /// `apps/v1`, or `v1` in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `deployment.apps`, as results name it (K0.2).
    pub fn singular_with_group(&self) -> String {
        let singular =
            if self.singular.is_empty() { self.kind.to_lowercase() } else { self.singular.clone() };
        with_group(singular, &self.group)
    }

    /// `deployments.apps`, as errors name it.
    pub fn plural_with_group(&self) -> String {
        with_group(self.plural.clone(), &self.group)
    }

    /// `Deployment.apps`, as some errors name it.
    pub fn kind_with_group(&self) -> String {
        with_group(self.kind.clone(), &self.group)
    }

    /// The path of all objects, of one namespace if there is one.
    pub fn collection(&self, namespace: Option<&str>) -> String {
        let namespace = namespace.filter(|_| self.namespaced);
        collection_path(&self.api_version(), namespace, &self.plural)
    }

    /// The path of one object.
    pub fn object(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.collection(Some(namespace)), percent::encode(name))
    }

    fn has_name(&self, name: &str) -> bool {
        name == self.plural
            || name == self.singular
            || self.short_names.iter().any(|short| short == name)
            || name == self.kind.to_lowercase()
    }
}

impl Resources {
    /// Reads aggregated discovery: the responses for `/api` and `/apis`.
    pub fn from_discovery(documents: &[Value]) -> Self {
        let mut all = Vec::new();
        for group in documents.iter().flat_map(|document| list(document, "/items")) {
            for version in list(group, "/versions") {
                let (group, version_name) = (text(group, "/metadata/name"), text(version, "/version"));
                all.extend(list(version, "/resources").iter().map(|entry| ApiResource {
                    group: group.to_owned(),
                    version: version_name.to_owned(),
                    plural: text(entry, "/resource").to_owned(),
                    singular: text(entry, "/singularResource").to_owned(),
                    kind: text(entry, "/responseKind/kind").to_owned(),
                    namespaced: text(entry, "/scope") == "Namespaced",
                    short_names: texts(entry, "/shortNames"),
                    categories: texts(entry, "/categories"),
                    verbs: texts(entry, "/verbs"),
                }));
            }
        }
        Self { all }
    }

    /// Reads the older form, one document for each group and version.
    pub fn from_group_versions(documents: &[Value]) -> Self {
        let mut all = Vec::new();
        for document in documents {
            let group_version = text(document, "/groupVersion");
            let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
            let whole =
                list(document, "/resources").iter().filter(|entry| !text(entry, "/name").contains('/'));
            all.extend(whole.map(|entry| ApiResource {
                group: group.to_owned(),
                version: version.to_owned(),
                plural: text(entry, "/name").to_owned(),
                singular: text(entry, "/singularName").to_owned(),
                kind: text(entry, "/kind").to_owned(),
                namespaced: entry["namespaced"] == true,
                short_names: texts(entry, "/shortNames"),
                categories: texts(entry, "/categories"),
                verbs: texts(entry, "/verbs"),
            }));
        }
        Self { all }
    }

    /// Every type, each in its preferred version.
    pub fn preferred(&self) -> impl Iterator<Item = &ApiResource> {
        self.all.iter().filter(|one| {
            let first = self.all.iter().find(|other| other.group == one.group && other.plural == one.plural);
            first.is_some_and(|first| first.version == one.version)
        })
    }

    /// Finds a type by name: `deploy`, `Deployments`, `deployments.apps` or `deployments.v1.apps`.
    pub fn by_name(&self, name: &str) -> Result<&ApiResource, Failure> {
        let lower = name.to_lowercase();
        let (first, rest) =
            lower.split_once('.').map_or((lower.as_str(), None), |(first, rest)| (first, Some(rest)));
        let found = self.all.iter().find(|one| {
            let right_group = rest.is_none_or(|rest| {
                rest == one.group
                    || rest
                        .split_once('.')
                        .map_or(rest == one.version && one.group.is_empty(), |(version, group)| {
                            version == one.version && group == one.group
                        })
            });
            right_group && one.has_name(first)
        });
        let plain = name.split_once('.').map_or(name, |(plain, _)| plain);
        found.ok_or_else(|| Failure::UnknownType(plain.to_owned()))
    }

    /// Other types with this short name, of lower priority.
    pub(crate) fn lower_priority_matches(&self, short: &str) -> impl Iterator<Item = &ApiResource> {
        let short = short.to_lowercase();
        self.preferred().filter(move |one| one.short_names.contains(&short)).skip(1)
    }

    /// The types of a category, such as `all`.
    pub fn in_category(&self, category: &str) -> Vec<&ApiResource> {
        self.preferred().filter(|one| one.categories.iter().any(|name| name == category)).collect()
    }

    /// The type of objects of this kind and version.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<&ApiResource> {
        self.all.iter().find(|one| one.kind == kind && one.api_version() == api_version)
    }
}

fn with_group(name: String, group: &str) -> String {
    if group.is_empty() { name } else { format!("{name}.{group}") }
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    list(value, pointer).iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn server() -> Resources {
        let entry = |plural: &str, kind: &str, short: &str| {
            json!({"resource": plural, "singularResource": kind.to_lowercase(), "responseKind": {"kind": kind},
                   "scope": "Namespaced", "shortNames": [short], "categories": ["all"], "verbs": ["get", "list"]})
        };
        Resources::from_discovery(&[
            json!({"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [entry("events", "Event", "ev")]}]}]}),
            json!({"items": [
                {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [entry("deployments", "Deployment", "deploy")]}]},
                {"metadata": {"name": "events.k8s.io"}, "versions": [{"version": "v1", "resources": [entry("events", "Event", "ev")]}]}]}),
        ])
    }

    /// K0.5: a type is found by each of its names, in any case.
    #[test]
    fn a_type_has_many_names() {
        let server = server();
        let names =
            ["deploy", "deployment", "Deployments", "deployments.apps", "deployments.v1.apps", "deploy.apps"];
        for name in names {
            assert_eq!(server.by_name(name).unwrap().plural_with_group(), "deployments.apps", "{name}");
        }
        assert_eq!(server.by_name("ev").unwrap().group, "", "the core group comes first");
        assert_eq!(server.by_name("events.events.k8s.io").unwrap().group, "events.k8s.io");
        assert_eq!(server.by_name("events.v1").unwrap().group, "");
        assert_eq!(
            server.by_name("deployments.batch").unwrap_err(),
            Failure::UnknownType("deployments".into())
        );
        let also: Vec<_> = server.lower_priority_matches("ev").map(ApiResource::plural_with_group).collect();
        assert_eq!(also, ["events.events.k8s.io"]);
    }

    #[test]
    fn objects_are_found_under_their_group_and_namespace() {
        let deploy = server().by_name("deploy").unwrap().clone();
        assert_eq!(deploy.object("shop", "a b"), "/apis/apps/v1/namespaces/shop/deployments/a%20b");
        assert_eq!(deploy.collection(None), "/apis/apps/v1/deployments");
        assert_eq!(deploy.singular_with_group(), "deployment.apps");
    }
}
