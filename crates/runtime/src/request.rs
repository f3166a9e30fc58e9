//! Requests to an API server, built without sending them.
//!
//! Every write has a field manager and strict validation: an unknown field is a bug in Gantry.

use gantry_client::{ApiRequest, DISCOVERY, METADATA, METADATA_LIST, OBJECTS, RequestBody, collection_path};
use gantry_decide::gc::{Propagation, Resource, ResourceScope};
use gantry_formats::percent;
use gantry_json::{Value, json};
use gantry_model::patch::PatchForm;
use gantry_model::{Name, Namespace, ResourceVersion, Uid};

/// How much of the objects is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The whole object.
    Whole,
    /// The metadata only.
    Metadata,
}

/// How objects are encoded in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As JSON.
    Json,
    /// As protobuf if the server has it, else as JSON.
    PreferProtobuf,
}

impl Encoding {
    /// The request for a response in this encoding.
    pub(crate) fn request(self, request: ApiRequest) -> ApiRequest {
        match self {
            Self::Json => request,
            Self::PreferProtobuf => request.preferring_protobuf(),
        }
    }
}

/// The path of a request: a collection, an object or a subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourcePath {
    path: String,
}

/// Delete options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteParams {
    /// The propagation policy; the kind's default if `None`.
    pub propagation: Option<Propagation>,
    /// Precondition: the object's uid.
    pub uid: Option<Uid>,
    /// Precondition: the object's resource version.
    pub version: Option<ResourceVersion>,
    /// The grace period; the object's default if `None`.
    pub grace_seconds: Option<u32>,
}

impl ResourcePath {
    /// All objects of a resource, in one namespace or in all.
    pub fn collection(resource: &Resource, namespace: Option<&Namespace>) -> Self {
        let namespace = namespace.filter(|_| resource.scope == ResourceScope::Namespaced);
        let path = collection_path(&resource.api_version, namespace.map(Namespace::as_str), &resource.plural);
        Self { path }
    }

    /// One object.
    pub fn object(resource: &Resource, namespace: Option<&Namespace>, name: &Name) -> Self {
        let collection = Self::collection(resource, namespace).path;
        Self { path: format!("{collection}/{}", percent::encode(name.as_str())) }
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

    pub(crate) fn get(&self, form: Form) -> ApiRequest {
        let accept = match form {
            Form::Whole => OBJECTS,
            Form::Metadata => METADATA,
        };
        ApiRequest::get(&self.path).accepting(accept)
    }

    pub(crate) fn discovery(&self) -> ApiRequest {
        ApiRequest::get(&self.path).accepting(DISCOVERY)
    }

    pub(crate) fn list(&self, form: Form, query: &[(&'static str, &str)]) -> ApiRequest {
        let accept = match form {
            Form::Whole => OBJECTS,
            Form::Metadata => METADATA_LIST,
        };
        with_query(ApiRequest::get(&self.path).accepting(accept), query)
    }

    pub(crate) fn watch(&self, form: Form, query: &[(&'static str, &str)]) -> ApiRequest {
        with_query(self.get(form).watching(), query)
    }

    pub(crate) fn create(&self, manager: &str, body: RequestBody) -> ApiRequest {
        strict(manager, ApiRequest::post(&self.path, body))
    }

    pub(crate) fn replace(&self, manager: &str, body: RequestBody) -> ApiRequest {
        strict(manager, ApiRequest::put(&self.path, body))
    }

    pub(crate) fn patch(&self, manager: &str, form: PatchForm, body: &Value) -> ApiRequest {
        strict(manager, ApiRequest::patch(&self.path, form, body))
    }

    pub(crate) fn apply(&self, manager: &str, body: RequestBody) -> ApiRequest {
        strict(manager, ApiRequest::patch(&self.path, PatchForm::Apply, body)).with("force", "true")
    }

    pub(crate) fn delete(&self, params: &DeleteParams) -> ApiRequest {
        ApiRequest::delete(&self.path, &params.body())
    }
}

/// Unknown fields are rejected, and the written fields get a manager.
fn strict(manager: &str, write: ApiRequest) -> ApiRequest {
    write.with("fieldManager", manager).with("fieldValidation", "Strict")
}

fn with_query(request: ApiRequest, query: &[(&'static str, &str)]) -> ApiRequest {
    query.iter().fold(request, |request, (key, value)| request.with(key, *value))
}

impl DeleteParams {
    /// Background deletion: dependents are collected afterwards.
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
            body["preconditions"]["uid"] = json!(uid.to_string());
        }
        if let Some(version) = &self.version {
            body["preconditions"]["resourceVersion"] = json!(version.as_str());
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(api_version: &str, plural: &str, scope: ResourceScope) -> Resource {
        Resource { api_version: api_version.into(), kind: "Any".into(), plural: plural.into(), scope }
    }

    #[test]
    fn objects_are_found_under_their_group_and_namespace() {
        let (pods, sets, nodes) = (
            resource("v1", "pods", ResourceScope::Namespaced),
            resource("apps/v1", "replicasets", ResourceScope::Namespaced),
            resource("v1", "nodes", ResourceScope::Cluster),
        );
        let shop = Namespace::from("shop");
        let path = |resource, namespace, name: &str| {
            ResourcePath::object(resource, namespace, &Name::from(name)).part("status").path
        };
        assert_eq!(path(&pods, Some(&shop), "web"), "/api/v1/namespaces/shop/pods/web/status");
        assert_eq!(path(&sets, Some(&shop), "web"), "/apis/apps/v1/namespaces/shop/replicasets/web/status");
        assert_eq!(path(&nodes, Some(&shop), "n:1"), "/api/v1/nodes/n%3A1/status");
        assert_eq!(ResourcePath::collection(&pods, None).path, "/api/v1/pods");
    }

    #[test]
    fn every_write_has_strict_validation_and_a_field_manager() {
        let target = ResourcePath::path("/api/v1/namespaces/shop/pods");
        let body = json!({});
        for request in [
            target.create("gantry", Vec::new().into()),
            target.replace("gantry", Vec::new().into()),
            target.patch("gantry", PatchForm::JsonMerge, &body),
        ] {
            let uri = format!("{}?fieldManager=gantry&fieldValidation=Strict", target.as_str());
            assert_eq!(request.uri(), uri, "{}", request.method());
        }
        let query = target.apply("gantry", Vec::new().into()).uri();
        assert!(query.ends_with("?fieldManager=gantry&fieldValidation=Strict&force=true"), "{query}");
    }

    #[test]
    fn a_deletion_has_propagation_grace_period_and_preconditions() {
        let deletion = DeleteParams {
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
        assert_eq!(DeleteParams::default().body(), json!({"kind": "DeleteOptions", "apiVersion": "v1"}));
    }
}
