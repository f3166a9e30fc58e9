//! One request, built without sending it.

use http::{Method, Request, header};
use kube::client::Body;
use serde_json::Value;

use crate::resources::escaped;

/// A request to an API server.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    accept: &'static str,
    content: Option<(&'static str, Vec<u8>)>,
    /// Whether the path is sent as a person wrote it.
    is_raw: bool,
}

/// How an existing object is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// Lists merge by their keys; the default.
    Strategic,
    /// Lists are replaced.
    Merge,
    /// A list of operations.
    Json,
    /// What a manager wants of it.
    Apply,
}

/// Objects as they are.
pub(crate) const OBJECTS: &str = "application/json";
/// Objects as rows for people.
pub(crate) const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
/// All types of a server in one answer.
pub(crate) const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

impl Call {
    fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: Vec::new(), accept: OBJECTS, content: None, is_raw: false }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Reads from a path that a person wrote.
    pub(crate) fn raw(path: &str) -> Self {
        Self { is_raw: true, ..Self::get(path) }
    }

    pub(crate) fn post(path: impl Into<String>, body: &Value) -> Self {
        Self { content: Some(("application/json", body.to_string().into())), ..Self::new(Method::POST, path) }
    }

    pub(crate) fn put(path: impl Into<String>, body: &Value) -> Self {
        Self { content: Some(("application/json", body.to_string().into())), ..Self::new(Method::PUT, path) }
    }

    pub(crate) fn patch(path: impl Into<String>, kind: PatchKind, body: &Value) -> Self {
        Self::patch_as_written(path, kind, body.to_string())
    }

    /// A patch as the user wrote it, which may be invalid JSON.
    pub(crate) fn patch_as_written(path: impl Into<String>, kind: PatchKind, body: String) -> Self {
        Self { content: Some((kind.content_type(), body.into())), ..Self::new(Method::PATCH, path) }
    }

    pub(crate) fn delete(path: impl Into<String>, options: &Value) -> Self {
        Self {
            content: Some(("application/json", options.to_string().into())),
            ..Self::new(Method::DELETE, path)
        }
    }

    pub(crate) fn accepting(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    /// Adds a parameter; an empty one says nothing and is left out.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.query.push((key, value));
        }
        self
    }

    /// Whether it is about an object without a name: the server would take it for a call about all objects of its kind.
    pub(crate) fn lacks_name(&self) -> bool {
        !self.is_raw && (self.path.ends_with('/') || self.path.contains("//"))
    }

    /// Whether it changes something: it is no read, and no dry run.
    pub(crate) fn is_change(&self) -> bool {
        // Deletions say it in their options, everything else in the query.
        let options = self.content.as_ref().filter(|_| self.method == Method::DELETE);
        let is_dry_deletion =
            options.is_some_and(|(_, options)| String::from_utf8_lossy(options).contains("\"dryRun\""));
        let is_dry_run = is_dry_deletion || self.query.iter().any(|(key, _)| *key == "dryRun");
        self.method != Method::GET && !is_dry_run
    }

    pub(crate) fn request(&self) -> Request<Body> {
        let query = self.query.iter().map(|(key, value)| format!("{key}={}", escaped(value)));
        let query = query.collect::<Vec<_>>().join("&");
        let uri = if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) };
        let (content, body) = self.content.clone().unzip();
        let mut request = Request::new(Body::from(body.unwrap_or_default()));
        *request.method_mut() = self.method.clone();
        // Every byte was escaped that a path may not have, so the fallback is never taken.
        *request.uri_mut() = uri.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, header::HeaderValue::from_static(self.accept));
        let agent = concat!("gantry/", env!("CARGO_PKG_VERSION"));
        headers.insert(header::USER_AGENT, header::HeaderValue::from_static(agent));
        if let Some(content) = content {
            headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content));
        }
        request
    }
}

impl PatchKind {
    fn content_type(self) -> &'static str {
        match self {
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Json => "application/json-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_dry_run_changes_nothing() {
        assert!(!Call::get("/api").is_change());
        assert!(Call::post("/api/v1/namespaces", &json!({})).is_change());
        assert!(!Call::post("/api/v1/namespaces", &json!({})).with("dryRun", "All").is_change());
        assert!(Call::delete("/api/v1/namespaces/a", &json!({})).is_change());
        assert!(!Call::delete("/api/v1/namespaces/a", &json!({"dryRun": ["All"]})).is_change());
    }
}
