//! The verb and the attributes of a request, from its method, path and query.

use super::request::{Request, Target};
use crate::paging::flag;
use crate::selector::fields::Terms;
use crate::target::Objects;

/// The API verb of a request for objects; empty if the method has none.
pub fn verb(method: &str, objects: &Objects<'_>, query: &[(String, String)]) -> &'static str {
    let reads = matches!(method, "GET" | "HEAD");
    match (method, objects.name) {
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

impl Request {
    /// The attributes of a request with this verb for objects; `query` is unescaped.
    pub fn for_objects(verb: &str, objects: &Objects<'_>, query: &[(String, String)]) -> Self {
        let lists = !objects.watch && matches!(verb, "list" | "watch");
        let selected = || first(query, "fieldSelector").filter(|_| lists).and_then(selected_name);
        // A Namespace counts as being inside itself, so that rights within it can be about it.
        let itself = objects.resource == "namespaces" && objects.namespace.is_none();
        let namespace = objects.namespace.or(if itself { objects.name } else { None });
        let target = Target::Resource {
            group: objects.group.to_owned(),
            resource: objects.resource.to_owned(),
            subresource: objects.part.and_then(|part| part.split('/').next()).map(str::to_owned),
            namespace: namespace.map(str::to_owned),
            name: objects.name.map(str::to_owned).or_else(selected),
        };
        Self { verb: verb.to_owned(), target }
    }

    /// The attributes of a request for a non-resource path, which is unescaped.
    pub fn for_path(method: &str, path: &str) -> Self {
        Self { verb: method.to_lowercase(), target: Target::Path(path.to_owned()) }
    }
}

fn first<'q>(query: &'q [(String, String)], key: &str) -> Option<&'q str> {
    query.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The one name that a field selector leaves, if that can be a name at all.
fn selected_name(selector: &str) -> Option<String> {
    let terms = Terms::parse(selector).ok()?;
    let name = terms.required("metadata.name")?;
    let fits = !name.is_empty() && ![".", ".."].contains(&name) && !name.contains(['/', '%']);
    fits.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target as Path;

    /// Verb, group, resource with its part, namespace and name, `-` for none.
    fn asked(method: &str, url: &str) -> String {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let pairs: Vec<_> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let request = match Path::parse(path) {
            Path::Objects(objects) => Request::for_objects(verb(method, &objects, &pairs), &objects, &pairs),
            _ => Request::for_path(method, path),
        };
        match request.target {
            Target::Path(path) => format!("{} {path}", request.verb),
            Target::Resource { group, resource, subresource, namespace, name } => {
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
            assert_eq!(asked(method, &format!("{pods}{url}")), wanted, "{method} {url}");
        }
        assert_eq!(asked("GET", "/apis/apps/v1/deployments"), "list apps:deployments - -");
        let old_watch = "/api/v1/watch/namespaces/shop/pods/p";
        assert_eq!(asked("GET", old_watch), "watch :pods shop p");
        assert_eq!(asked("DELETE", old_watch), "delete :pods shop p", "who may watch may not delete");
    }

    /// A0.7: a list of one name is about that name.
    #[test]
    fn a_list_by_name_is_about_that_name() {
        let list = |selector: &str| asked("GET", &format!("/api/v1/pods?fieldSelector={selector}"));
        assert_eq!(list("metadata.name=p"), "list :pods - p");
        assert_eq!(list("spec.nodeName=n,metadata.name==p"), "list :pods - p");
        assert_eq!(list("metadata.name!=p"), "list :pods - -");
        assert_eq!(list("metadata.name=a/b"), "list :pods - -");
        assert_eq!(asked("GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name=p"), "watch :pods - p");
        assert_eq!(
            asked("DELETE", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name=p"),
            "deletecollection :pods n -"
        );
    }

    /// A7.3: a namespace is inside itself.
    #[test]
    fn a_namespace_is_inside_itself() {
        assert_eq!(asked("DELETE", "/api/v1/namespaces/shop"), "delete :namespaces shop shop");
        assert_eq!(asked("PUT", "/api/v1/namespaces/shop/finalize"), "update :namespaces/finalize shop shop");
        assert_eq!(asked("GET", "/api/v1/namespaces"), "list :namespaces - -");
    }

    /// A0.7, A7.3: what is no object is a path, and the verb is the method.
    #[test]
    fn other_paths_are_paths() {
        assert_eq!(asked("GET", "/metrics"), "get /metrics");
        assert_eq!(asked("POST", "/apis/apps/v1"), "post /apis/apps/v1");
        assert_eq!(asked("GET", "/api"), "get /api");
    }
}
