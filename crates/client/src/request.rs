//! A request to an API server, built without sending it.

use bytes::Bytes;
use gantry_formats::percent;
use gantry_json::Value;
use gantry_model::patch::PatchForm;
use http::{HeaderValue, Method, Request, header};
use http_body_util::Full;

/// The media type of whole objects.
pub const OBJECTS: &str = "application/json";
/// The media type of whole objects in protobuf.
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// The media type of the metadata of an object.
pub const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The media type of the metadata of a list of objects.
pub const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// The media types of objects as tables for display.
pub const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
/// The media types of aggregated discovery, with a fallback for older servers.
pub const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// Media types in JSON, and the same with protobuf as the first choice.
const IN_PROTOBUF: [(&str, &str); 3] = [
    (OBJECTS, "application/vnd.kubernetes.protobuf,application/json"),
    (
        METADATA,
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
         application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ),
    (
        METADATA_LIST,
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
         application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    ),
];

/// The body of a request: an object, or text as a user wrote it.
#[derive(Clone, Debug)]
pub struct RequestBody {
    /// `None` for the default of the method.
    media_type: Option<&'static str>,
    bytes: Bytes,
}

/// A request to an API server.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    accept: &'static str,
    content: Option<(&'static str, Bytes)>,
    is_watch: bool,
    /// Whether the path is sent as a user wrote it.
    is_raw: bool,
}

impl ApiRequest {
    fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            accept: OBJECTS,
            content: None,
            is_watch: false,
            is_raw: false,
        }
    }

    fn with_content(self, content_type: &'static str, body: impl Into<RequestBody>) -> Self {
        let RequestBody { media_type, bytes } = body.into();
        Self { content: Some((media_type.unwrap_or(content_type), bytes)), ..self }
    }

    /// Reads an object, a list or any other document.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Reads from a path that a user wrote.
    pub fn raw(path: &str) -> Self {
        Self { is_raw: true, ..Self::get(path) }
    }

    /// Creates an object.
    pub fn post(path: impl Into<String>, body: impl Into<RequestBody>) -> Self {
        Self::new(Method::POST, path).with_content(OBJECTS, body)
    }

    /// Connects to a subresource.
    pub fn connect(path: impl Into<String>) -> Self {
        // Container runtimes refuse requests for streams that accept objects only.
        Self::new(Method::POST, path).accepting("*/*")
    }

    /// Replaces an object.
    pub fn put(path: impl Into<String>, body: impl Into<RequestBody>) -> Self {
        Self::new(Method::PUT, path).with_content(OBJECTS, body)
    }

    /// Patches an object.
    pub fn patch(path: impl Into<String>, form: PatchForm, body: impl Into<RequestBody>) -> Self {
        Self::new(Method::PATCH, path).with_content(form.content_type(), body)
    }

    /// Deletes an object or a collection, with `DeleteOptions` as the body.
    pub fn delete(path: impl Into<String>, options: &Value) -> Self {
        Self::new(Method::DELETE, path).with_content(OBJECTS, options)
    }

    /// Sets the accepted media types.
    #[must_use]
    pub fn accepting(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    /// Accepts protobuf, and JSON from servers and of kinds without protobuf.
    #[must_use]
    pub fn preferring_protobuf(self) -> Self {
        let preferred = IN_PROTOBUF.iter().find(|(json, _)| *json == self.accept);
        Self { accept: preferred.map_or(self.accept, |(_, protobuf)| protobuf), ..self }
    }

    /// Watches the collection instead of listing it.
    #[must_use]
    pub fn watching(self) -> Self {
        Self { is_watch: true, ..self.with("watch", "true") }
    }

    /// Adds a parameter unless it is empty.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.query.push((key, value));
        }
        self
    }

    /// Adds a parameter for each value, also for empty ones.
    #[must_use]
    pub fn with_each(mut self, key: &'static str, values: &[String]) -> Self {
        self.query.extend(values.iter().map(|value| (key, value.clone())));
        self
    }

    /// Whether the name of the object is empty. The server would apply the request to the whole collection.
    pub fn lacks_name(&self) -> bool {
        !self.is_raw && (self.path.ends_with('/') || self.path.contains("//"))
    }

    /// Whether it changes something: neither a read nor a dry run.
    pub fn is_change(&self) -> bool {
        // Deletions have it in their options, all other requests in the query.
        let options = self.content.as_ref().filter(|_| self.method == Method::DELETE);
        let is_dry_deletion =
            options.is_some_and(|(_, options)| String::from_utf8_lossy(options).contains("\"dryRun\""));
        let is_dry_run = is_dry_deletion || self.query.iter().any(|(key, _)| *key == "dryRun");
        self.method != Method::GET && !is_dry_run
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Path and query.
    pub fn uri(&self) -> String {
        let query = self.query.iter().map(|(key, value)| format!("{key}={}", percent::encode(value)));
        let query = query.collect::<Vec<_>>().join("&");
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }

    pub(crate) fn to_http(&self) -> Request<Full<Bytes>> {
        let (content_type, body) = self.content.clone().unzip();
        let mut request = Request::new(Full::from(body.unwrap_or_default()));
        *request.method_mut() = self.method.clone();
        // All special bytes are escaped, so the fallback is never taken.
        *request.uri_mut() = self.uri().parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static(self.accept));
        let agent = concat!("gantry/", env!("CARGO_PKG_VERSION"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(agent));
        if let Some(content_type) = content_type {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if self.is_watch {
            // A compressed stream would be buffered until a block is full.
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        request
    }
}

impl RequestBody {
    /// An object in protobuf.
    pub fn protobuf(bytes: impl Into<Bytes>) -> Self {
        Self { media_type: Some(PROTOBUF), bytes: bytes.into() }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> Self {
        Self { media_type: None, bytes }
    }
}

impl From<&Value> for RequestBody {
    fn from(value: &Value) -> Self {
        value.to_string().into()
    }
}

impl From<String> for RequestBody {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<Vec<u8>> for RequestBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

/// The path of all objects of a resource, in one namespace or in all.
pub fn collection_path(api_version: &str, namespace: Option<&str>, plural: &str) -> String {
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    let place =
        namespace.map(|namespace| format!("/namespaces/{}", percent::encode(namespace))).unwrap_or_default();
    format!("{root}/{api_version}{place}/{plural}")
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn a_dry_run_changes_nothing() {
        assert!(!ApiRequest::get("/api").is_change());
        assert!(ApiRequest::post("/api/v1/namespaces", &json!({})).is_change());
        assert!(!ApiRequest::post("/api/v1/namespaces", &json!({})).with("dryRun", "All").is_change());
        assert!(ApiRequest::delete("/api/v1/namespaces/a", &json!({})).is_change());
        assert!(!ApiRequest::delete("/api/v1/namespaces/a", &json!({"dryRun": ["All"]})).is_change());
    }

    #[test]
    fn parameters_are_escaped_and_empty_ones_left_out() {
        let list = ApiRequest::get(collection_path("v1", Some("shop"), "pods"));
        let list = list.with("labelSelector", "app in (a,b)").with("fieldSelector", "");
        assert_eq!(list.uri(), "/api/v1/namespaces/shop/pods?labelSelector=app%20in%20%28a%2Cb%29");
        assert_eq!(collection_path("apps/v1", None, "deployments"), "/apis/apps/v1/deployments");
    }

    #[test]
    fn json_is_accepted_where_protobuf_is_preferred() {
        for json in [OBJECTS, METADATA, METADATA_LIST] {
            let accepted = ApiRequest::get("/api").accepting(json).preferring_protobuf().accept;
            let (first, second) = accepted.split_once(',').unwrap();
            assert_eq!(second, json);
            assert_eq!(first, json.replace(OBJECTS, PROTOBUF));
        }
        assert_eq!(ApiRequest::get("/api").accepting(TABLE).preferring_protobuf().accept, TABLE);
    }

    #[test]
    fn a_request_without_a_name_is_recognized() {
        assert!(ApiRequest::get("/api/v1/namespaces/a/pods/").lacks_name());
        assert!(!ApiRequest::raw("/apis/").lacks_name());
    }
}
