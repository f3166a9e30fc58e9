//! Requests to an API server, built without sending them.
//!
//! Every write has a field manager and strict validation: an unknown field is a bug of ours.

use gantry_decide::gc::{Propagation, Resource, Scope};
use gantry_model::patch::PatchForm;
use gantry_model::{Name, Namespace, ResourceVersion, Uid};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// How much of the objects is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The whole object.
    Whole,
    /// The metadata only.
    Metadata,
}

/// The path of a request: a collection, an object or a subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    path: String,
}

/// Delete options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deletion {
    /// What happens to its dependents; the kind's default if `None`.
    pub propagation: Option<Propagation>,
    /// Precondition: the object's uid.
    pub uid: Option<Uid>,
    /// Precondition: the object's resource version.
    pub version: Option<ResourceVersion>,
    /// The grace period; the object's default if `None`.
    pub grace_seconds: Option<u32>,
}

impl Target {
    /// All objects of a resource, in one namespace or in all.
    pub fn collection(resource: &Resource, namespace: Option<&Namespace>) -> Self {
        let root = if resource.group().is_empty() { "/api" } else { "/apis" };
        let place = match (resource.scope, namespace) {
            (Scope::Namespaced, Some(namespace)) => format!("/namespaces/{namespace}"),
            (Scope::Namespaced, None) | (Scope::Cluster, _) => String::new(),
        };
        Self { path: format!("{root}/{}{place}/{}", resource.api_version, resource.plural) }
    }

    /// One object.
    pub fn object(resource: &Resource, namespace: Option<&Namespace>, name: &Name) -> Self {
        let collection = Self::collection(resource, namespace).path;
        Self { path: format!("{collection}/{}", escaped(name.as_str())) }
    }

    /// A subresource, like `status`.
    pub fn part(&self, part: &str) -> Self {
        Self { path: format!("{}/{part}", self.path) }
    }

    /// A path that is not a resource: discovery, health.
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: path.into() }
    }

    /// The path, for messages.
    pub fn as_str(&self) -> &str {
        &self.path
    }

    pub(crate) fn get(&self, form: Form) -> Request<Vec<u8>> {
        let accept = match form {
            Form::Whole => "application/json",
            Form::Metadata => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        };
        self.request(Method::GET, &[], accept, None, Vec::new())
    }

    pub(crate) fn discovery(&self) -> Request<Vec<u8>> {
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        self.request(Method::GET, &[], accept, None, Vec::new())
    }

    pub(crate) fn list(&self, form: Form, query: &[(&str, &str)]) -> Request<Vec<u8>> {
        let accept = match form {
            Form::Whole => "application/json",
            Form::Metadata => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        };
        self.request(Method::GET, query, accept, None, Vec::new())
    }

    pub(crate) fn watch(&self, form: Form, query: &[(&str, &str)]) -> Request<Vec<u8>> {
        let accept = match form {
            Form::Whole => "application/json",
            Form::Metadata => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        };
        let mut request = self.request(Method::GET, query, accept, None, Vec::new());
        // A compressed stream would be buffered until a block is full.
        request.headers_mut().insert(header::ACCEPT_ENCODING, header::HeaderValue::from_static("identity"));
        request
    }

    pub(crate) fn create(&self, manager: &str, body: Vec<u8>) -> Request<Vec<u8>> {
        self.write(Method::POST, manager, "application/json", body)
    }

    pub(crate) fn replace(&self, manager: &str, body: Vec<u8>) -> Request<Vec<u8>> {
        self.write(Method::PUT, manager, "application/json", body)
    }

    pub(crate) fn patch(&self, manager: &str, form: PatchForm, body: &Value) -> Request<Vec<u8>> {
        self.write(Method::PATCH, manager, form.content_type(), body.to_string().into_bytes())
    }

    pub(crate) fn apply(&self, manager: &str, body: Vec<u8>) -> Request<Vec<u8>> {
        let query = [("fieldManager", manager), ("fieldValidation", "Strict"), ("force", "true")];
        self.request(Method::PATCH, &query, "application/json", Some("application/apply-patch+yaml"), body)
    }

    pub(crate) fn delete(&self, deletion: &Deletion) -> Request<Vec<u8>> {
        let body = deletion.body().to_string().into_bytes();
        self.request(Method::DELETE, &[], "application/json", Some("application/json"), body)
    }

    fn write(&self, method: Method, manager: &str, content: &str, body: Vec<u8>) -> Request<Vec<u8>> {
        let query = [("fieldManager", manager), ("fieldValidation", "Strict")];
        self.request(method, &query, "application/json", Some(content), body)
    }

    fn request(
        &self,
        method: Method,
        query: &[(&str, &str)],
        accept: &str,
        content: Option<&str>,
        body: Vec<u8>,
    ) -> Request<Vec<u8>> {
        let mut uri = self.path.clone();
        for (nth, (key, value)) in query.iter().enumerate() {
            uri.push(if nth == 0 { '?' } else { '&' });
            uri.push_str(key);
            uri.push('=');
            uri.push_str(&escaped(value));
        }
        let mut request = Request::new(body);
        *request.method_mut() = method;
        // All special bytes are escaped, so the fallback is never taken.
        *request.uri_mut() = uri.parse().unwrap_or_default();
        let headers = request.headers_mut();
        let mut set = |name, value: &str| {
            if let Ok(value) = header::HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        set(header::ACCEPT, accept);
        if let Some(content) = content {
            set(header::CONTENT_TYPE, content);
        }
        request
    }
}

impl Deletion {
    /// In the background: dependents are collected afterwards.
    pub fn background() -> Self {
        Self { propagation: Some(Propagation::Background), ..Self::default() }
    }

    fn body(&self) -> Value {
        let mut body = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        if let Some(propagation) = self.propagation {
            body["propagationPolicy"] = json!(propagation.to_string());
        }
        if let Some(seconds) = self.grace_seconds {
            body["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(uid) = &self.uid {
            body["preconditions"]["uid"] = json!(uid.as_str());
        }
        if let Some(version) = &self.version {
            body["preconditions"]["resourceVersion"] = json!(version.as_str());
        }
        body
    }
}

/// A text, percent-encoded for a path segment or a query.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect::<Vec<_>>()
        .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(api_version: &str, plural: &str, scope: Scope) -> Resource {
        Resource { api_version: api_version.into(), kind: "Any".into(), plural: plural.into(), scope }
    }

    #[test]
    fn objects_are_found_under_their_group_and_namespace() {
        let (pods, sets, nodes) = (
            resource("v1", "pods", Scope::Namespaced),
            resource("apps/v1", "replicasets", Scope::Namespaced),
            resource("v1", "nodes", Scope::Cluster),
        );
        let shop = Namespace::from("shop");
        let path = |resource, namespace, name: &str| {
            Target::object(resource, namespace, &Name::from(name)).part("status").path
        };
        assert_eq!(path(&pods, Some(&shop), "web"), "/api/v1/namespaces/shop/pods/web/status");
        assert_eq!(path(&sets, Some(&shop), "web"), "/apis/apps/v1/namespaces/shop/replicasets/web/status");
        assert_eq!(path(&nodes, Some(&shop), "n:1"), "/api/v1/nodes/n%3A1/status");
        assert_eq!(Target::collection(&pods, None).path, "/api/v1/pods");
    }

    #[test]
    fn every_write_is_strict_and_says_who_writes() {
        let target = Target::path("/api/v1/namespaces/shop/pods");
        let body = json!({});
        for request in [
            target.create("gantry", Vec::new()),
            target.replace("gantry", Vec::new()),
            target.patch("gantry", PatchForm::JsonMerge, &body),
        ] {
            let query = request.uri().query().unwrap();
            assert_eq!(query, "fieldManager=gantry&fieldValidation=Strict", "{}", request.method());
        }
        let query = target.apply("gantry", Vec::new()).uri().query().unwrap().to_owned();
        assert_eq!(query, "fieldManager=gantry&fieldValidation=Strict&force=true");
    }

    #[test]
    fn a_deletion_says_what_it_means() {
        let deletion = Deletion {
            propagation: Some(Propagation::Foreground),
            uid: Some("u-1".into()),
            version: Some("7".into()),
            grace_seconds: Some(0),
        };
        let want = json!({
            "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground", "gracePeriodSeconds": 0,
            "preconditions": {"uid": "u-1", "resourceVersion": "7"},
        });
        assert_eq!(deletion.body(), want);
        assert_eq!(Deletion::default().body(), json!({"kind": "DeleteOptions", "apiVersion": "v1"}));
    }
}
