//! Parses the path of a URL; whether the named objects exist is checked later.
//!
//! ```text
//! /api/v1/namespaces/shop/pods/web-1/log
//! └prefix┘ └─ namespace ─┘ └resource┘ └name┘ └ part
//! ```

/// The objects, group or other resource that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A collection, an object, or a subresource.
    Objects(Objects),
    /// An API group: `/api`, `/apis/apps` or, with a version, `/api/v1` and `/apis/apps/v1`.
    Group {
        /// The group; empty for the core group.
        group: String,
        /// The version, if one is named.
        version: Option<String>,
    },
    /// The list of all groups: `/apis`.
    Groups,
    /// Anything else: `/healthz`, `/openapi/v3`, `/nonsense`.
    Path,
}

/// The objects that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The namespace, if one is named.
    pub namespace: Option<String>,
    /// The plural resource.
    pub resource: String,
    /// The object, if one is named.
    pub name: Option<String>,
    /// The subresource, if one is named, with all that follows: `proxy/index.html`.
    pub part: Option<String>,
    /// Whether it is the deprecated form of a watch, `/api/v1/watch/…`.
    pub watch: bool,
}

/// Subresources of Namespaces; anything else after the name of one is a collection in it.
const PARTS_OF_NAMESPACES: [&str; 2] = ["status", "finalize"];

impl Target {
    /// Parses an unescaped path, which begins with a slash and may end with one.
    pub fn parse(path: &str) -> Self {
        let trimmed = path.trim_end_matches('/');
        let inner = trimmed.strip_prefix('/').unwrap_or(trimmed);
        let (root, rest) = split(inner);
        match (root, rest) {
            ("api", None) => Self::Group { group: String::new(), version: None },
            ("apis", None) => Self::Groups,
            ("api", Some(rest)) => Self::versioned("", rest),
            ("apis", Some(rest)) => match split(rest) {
                (group, None) => Self::Group { group: group.to_owned(), version: None },
                (group, Some(rest)) => Self::versioned(group, rest),
            },
            _ => Self::Path,
        }
    }

    fn versioned(group: &str, rest: &str) -> Self {
        let (version, rest) = split(rest);
        let Some(rest) = rest else {
            return Self::Group { group: group.to_owned(), version: Some(version.to_owned()) };
        };
        let (watch, rest) = match split(rest) {
            ("watch", Some(rest)) => (true, rest),
            _ => (false, rest),
        };
        Self::Objects(Objects::parse(group, version, watch, rest))
    }
}

impl Objects {
    /// The first segment of the subresource: `proxy` of `proxy/index.html`.
    pub fn subresource(&self) -> Option<&str> {
        self.part.as_deref().and_then(|part| part.split('/').next())
    }

    fn parse(group: &str, version: &str, watch: bool, rest: &str) -> Self {
        let whole = |namespace: Option<&str>, resource: &str, name: Option<&str>, part: Option<&str>| Self {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.map(str::to_owned),
            resource: resource.to_owned(),
            name: name.map(str::to_owned),
            part: part.map(str::to_owned),
            watch,
        };
        let (first, after) = split(rest);
        let (name, part) = after.map_or((None, None), |after| {
            let (name, part) = split(after);
            (Some(name), part)
        });
        match (first, name, part) {
            // `namespaces/shop/pods` names pods; `namespaces/shop/status` names the Namespace.
            ("namespaces", Some(namespace), Some(inside)) if !is_part_of_namespace(group, inside) => {
                let (resource, after) = split(inside);
                let (name, part) = after.map_or((None, None), |after| {
                    let (name, part) = split(after);
                    (Some(name), part)
                });
                whole(Some(namespace), resource, name, part)
            }
            (resource, name, part) => whole(None, resource, name, part),
        }
    }
}

fn is_part_of_namespace(group: &str, inside: &str) -> bool {
    group.is_empty() && PARTS_OF_NAMESPACES.contains(&inside)
}

fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((first, rest)) if !rest.is_empty() => (first, Some(rest)),
        Some((first, _)) => (first, None),
        None => (path, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Group, version, namespace, resource, name, subresource.
    type Row<'a> = (&'a str, &'a str, Option<&'a str>, &'a str, Option<&'a str>, Option<&'a str>);

    fn assert_objects(path: &str, expected: Row<'_>) {
        let Target::Objects(objects) = Target::parse(path) else { panic!("{path} names no objects") };
        let Objects { group, version, namespace, resource, name, part, .. } = &objects;
        let (namespace, name, part) = (namespace.as_deref(), name.as_deref(), part.as_deref());
        assert_eq!((group.as_str(), version.as_str(), namespace, resource.as_str(), name, part), expected);
    }

    /// A0.5, A0.6: every row of the grammar, with and without a slash at the end.
    #[test]
    fn every_form_of_path_is_parsed() {
        assert_objects("/api/v1/nodes", ("", "v1", None, "nodes", None, None));
        assert_objects("/api/v1/pods/", ("", "v1", None, "pods", None, None));
        assert_objects("/api/v1/nodes/n1/status", ("", "v1", None, "nodes", Some("n1"), Some("status")));
        let in_shop = |resource, name, part| ("apps", "v1", Some("shop"), resource, name, part);
        assert_objects("/apis/apps/v1/namespaces/shop/deployments", in_shop("deployments", None, None));
        assert_objects(
            "/apis/apps/v1/namespaces/shop/deployments/web/",
            in_shop("deployments", Some("web"), None),
        );
        assert_objects(
            "/apis/apps/v1/namespaces/shop/deployments/web/scale",
            in_shop("deployments", Some("web"), Some("scale")),
        );
        assert_objects(
            "/api/v1/namespaces/shop/pods/p/proxy/index.html",
            ("", "v1", Some("shop"), "pods", Some("p"), Some("proxy/index.html")),
        );
    }

    /// A0.5: `namespaces` is also a resource, with objects and subresources.
    #[test]
    fn a_namespace_is_an_object_with_parts() {
        assert_objects("/api/v1/namespaces", ("", "v1", None, "namespaces", None, None));
        assert_objects("/api/v1/namespaces/shop", ("", "v1", None, "namespaces", Some("shop"), None));
        for part in ["status", "finalize"] {
            let path = format!("/api/v1/namespaces/shop/{part}");
            assert_objects(&path, ("", "v1", None, "namespaces", Some("shop"), Some(part)));
        }
        assert_objects(
            "/apis/x.io/v1/namespaces/shop/status",
            ("x.io", "v1", Some("shop"), "status", None, None),
        );
    }

    /// A0.5: the deprecated form of a watch.
    #[test]
    fn the_legacy_path_of_a_watch_is_parsed() {
        let watched = |path| matches!(Target::parse(path), Target::Objects(Objects { watch: true, .. }));
        assert!(watched("/api/v1/watch/namespaces/shop/pods/p"));
        assert!(watched("/apis/apps/v1/watch/deployments"));
        assert!(!watched("/api/v1/pods"));
        assert_objects(
            "/api/v1/watch/namespaces/shop/pods/p",
            ("", "v1", Some("shop"), "pods", Some("p"), None),
        );
    }

    /// A1.1, A1.2: the paths of discovery, and paths outside the API.
    #[test]
    fn groups_and_other_paths_are_distinguished() {
        let group = |group: &str, version: Option<&str>| Target::Group {
            group: group.to_owned(),
            version: version.map(str::to_owned),
        };
        assert_eq!(Target::parse("/api"), group("", None));
        assert_eq!(Target::parse("/api/v1/"), group("", Some("v1")));
        assert_eq!(Target::parse("/apis/"), Target::Groups);
        assert_eq!(Target::parse("/apis/apps"), group("apps", None));
        assert_eq!(Target::parse("/apis/apps/v1"), group("apps", Some("v1")));
        for path in ["/", "", "/healthz", "/apiserver", "/version/", "/openapi/v3/apis/apps/v1"] {
            assert_eq!(Target::parse(path), Target::Path);
        }
    }
}
