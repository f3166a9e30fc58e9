//! The attributes of a request that authorization decides on.

use super::User;
use crate::paging::flag;
use crate::selector::fields::Terms;
use crate::target::Objects;
use crate::{Details, Refusal, StatusReason};

/// The attributes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAttributes {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or a special verb.
    pub verb: String,
    /// The objects or the path that the request is for.
    pub target: RequestTarget,
}

/// The objects or the path that a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestTarget {
    /// Objects of the API.
    Resource {
        /// The group; empty for the core group.
        group: String,
        /// The plural resource.
        resource: String,
        /// The subresource, if any.
        subresource: Option<String>,
        /// The namespace; none at the cluster scope.
        namespace: Option<String>,
        /// The object's name; none for collections.
        name: Option<String>,
    },
    /// A path outside the resources, such as `/metrics`.
    Path(String),
}

impl RequestAttributes {
    /// Returns the 403 for this request; `why` is the reason of the decision.
    pub fn forbidden(&self, user: &User, why: Option<&str>) -> Refusal {
        let (user, verb) = (&user.name, &self.verb);
        let (message, details) = match &self.target {
            RequestTarget::Path(path) => {
                (format!("forbidden: User \"{user}\" cannot {verb} path \"{path}\""), Details::default())
            }
            RequestTarget::Resource { group, resource, subresource, namespace, name } => {
                let qualified =
                    if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
                let named = name.as_ref().map_or_else(String::new, |name| format!(" \"{name}\""));
                let whole = subresource
                    .as_ref()
                    .map_or_else(|| resource.clone(), |part| format!("{resource}/{part}"));
                let place = namespace.as_ref().map_or_else(
                    || "at the cluster scope".to_owned(),
                    |namespace| format!("in the namespace \"{namespace}\""),
                );
                let message = format!(
                    "{qualified}{named} is forbidden: User \"{user}\" cannot {verb} resource \"{whole}\" in API group \
                     \"{group}\" {place}"
                );
                let details = Details {
                    name: name.clone().unwrap_or_default(),
                    group: group.clone(),
                    kind: resource.clone(),
                    ..Details::default()
                };
                (message, details)
            }
        };
        let message = why.map_or_else(|| message.clone(), |why| format!("{message}: {why}"));
        Refusal::new(StatusReason::Forbidden, message).with(details)
    }
}

/// Returns the API verb of a request for objects; empty if the method has none.
pub fn verb(method: &str, objects: &Objects, query: &[(String, String)]) -> &'static str {
    let reads = matches!(method, "GET" | "HEAD");
    match (method, &objects.name) {
        _ if objects.watch && reads => "watch",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", Some(_)) => "delete",
        ("DELETE", None) => "deletecollection",
        (_, Some(_)) if reads => "get",
        (_, None) if reads => {
            if first(query, "watch").is_some_and(flag) {
                "watch"
            } else {
                "list"
            }
        }
        _ => "",
    }
}

impl RequestAttributes {
    /// Returns the attributes of a request with this verb for objects; `query` is unescaped.
    ///
    /// Does not check whether the resource exists: authorization comes before 404.
    pub fn for_objects(verb: &str, objects: &Objects, query: &[(String, String)]) -> Self {
        let lists = !objects.watch && matches!(verb, "list" | "watch");
        let selected = || first(query, "fieldSelector").filter(|_| lists).and_then(selected_name);
        // A Namespace counts as inside itself, so that a Role in it can allow access to it.
        let itself = objects.resource == "namespaces" && objects.namespace.is_none();
        let namespace = objects.namespace.as_ref().or(if itself { objects.name.as_ref() } else { None });
        let target = RequestTarget::Resource {
            group: objects.group.clone(),
            resource: objects.resource.clone(),
            subresource: objects.subresource().map(str::to_owned),
            namespace: namespace.cloned(),
            name: objects.name.clone().or_else(selected),
        };
        Self { verb: verb.to_owned(), target }
    }

    /// Returns the attributes of a request for a non-resource path, which is unescaped.
    pub fn for_path(method: &str, path: &str) -> Self {
        Self { verb: method.to_lowercase(), target: RequestTarget::Path(path.to_owned()) }
    }
}

fn first<'q>(query: &'q [(String, String)], key: &str) -> Option<&'q str> {
    query.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Returns the name that a field selector requires, if it is a valid path segment.
fn selected_name(selector: &str) -> Option<String> {
    let terms = Terms::parse(selector).ok()?;
    let name = terms.required("metadata.name")?;
    let fits = !name.is_empty() && ![".", ".."].contains(&name) && !name.contains(['/', '%']);
    fits.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    /// Verb, group, resource with subresource, namespace and name, `-` for none.
    fn attributes(method: &str, url: &str) -> String {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let pairs: Vec<_> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let request = match Target::parse(path) {
            Target::Objects(objects) => {
                RequestAttributes::for_objects(verb(method, &objects, &pairs), &objects, &pairs)
            }
            _ => RequestAttributes::for_path(method, path),
        };
        match request.target {
            RequestTarget::Path(path) => format!("{} {path}", request.verb),
            RequestTarget::Resource { group, resource, subresource, namespace, name } => {
                let part = subresource.map_or(String::new(), |part| format!("/{part}"));
                let (namespace, name) = (namespace.unwrap_or("-".into()), name.unwrap_or("-".into()));
                format!("{} {group}:{resource}{part} {namespace} {name}", request.verb)
            }
        }
    }

    /// A0.7: every method on objects and collections.
    #[test]
    fn methods_are_verbs() {
        let pods = "/api/v1/namespaces/shop/pods";
        for (method, url, wanted) in [
            ("GET", "", "list :pods shop -"),
            ("GET", "?watch=true", "watch :pods shop -"),
            ("GET", "?watch=0", "list :pods shop -"),
            ("HEAD", "", "list :pods shop -"),
            ("POST", "", "create :pods shop -"),
            ("DELETE", "", "deletecollection :pods shop -"),
            ("GET", "/p", "get :pods shop p"),
            ("GET", "/p?watch=true", "get :pods shop p"),
            ("PUT", "/p", "update :pods shop p"),
            ("PATCH", "/p/status", "patch :pods/status shop p"),
            ("DELETE", "/p", "delete :pods shop p"),
            ("POST", "/p/proxy/index.html", "create :pods/proxy shop p"),
        ] {
            assert_eq!(attributes(method, &format!("{pods}{url}")), wanted, "{method} {url}");
        }
        assert_eq!(attributes("GET", "/apis/apps/v1/deployments"), "list apps:deployments - -");
        let old_watch = "/api/v1/watch/namespaces/shop/pods/p";
        assert_eq!(attributes("GET", old_watch), "watch :pods shop p");
        assert_eq!(attributes("DELETE", old_watch), "delete :pods shop p", "a DELETE is not a watch");
    }

    /// A0.7: a list with a field selector for one name has that name in its attributes.
    #[test]
    fn a_list_by_name_is_about_that_name() {
        let list = |selector: &str| attributes("GET", &format!("/api/v1/pods?fieldSelector={selector}"));
        assert_eq!(list("metadata.name=p"), "list :pods - p");
        assert_eq!(list("spec.nodeName=n,metadata.name==p"), "list :pods - p");
        assert_eq!(list("metadata.name!=p"), "list :pods - -");
        assert_eq!(list("metadata.name=a/b"), "list :pods - -");
        assert_eq!(
            attributes("GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name=p"),
            "watch :pods - p"
        );
        assert_eq!(
            attributes("DELETE", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name=p"),
            "deletecollection :pods n -"
        );
    }

    /// A7.3: the namespace of a request for a Namespace is its own name.
    #[test]
    fn a_namespace_is_in_its_own_scope() {
        assert_eq!(attributes("DELETE", "/api/v1/namespaces/shop"), "delete :namespaces shop shop");
        assert_eq!(
            attributes("PUT", "/api/v1/namespaces/shop/finalize"),
            "update :namespaces/finalize shop shop"
        );
        assert_eq!(attributes("GET", "/api/v1/namespaces"), "list :namespaces - -");
    }

    /// A0.7, A7.3: a path outside the resources is authorized as a path, with the method as verb.
    #[test]
    fn other_paths_are_paths() {
        assert_eq!(attributes("GET", "/metrics"), "get /metrics");
        assert_eq!(attributes("POST", "/apis/apps/v1"), "post /apis/apps/v1");
        assert_eq!(attributes("GET", "/api"), "get /api");
    }
}
