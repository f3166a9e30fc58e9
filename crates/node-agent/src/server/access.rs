//! Authenticates and authorizes the users of the agent's server.

use gantry_json::{Value, json};
use gantry_runtime::{Api, RequestError, ResourcePath};
use http::{HeaderMap, Method, header};
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The group with all permissions.
const MASTERS: &str = "system:masters";

/// The user of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientUser {
    name: String,
    groups: Vec<String>,
}

impl ClientUser {
    /// Returns the user of a verified certificate: its common name, with its organizations as groups.
    pub(super) fn of_certificate(certificate: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
        let groups = subject.iter_organization().filter_map(|group| group.as_str().ok());
        Some(Self { name, groups: groups.map(str::to_owned).collect() })
    }

    /// Returns the user of a bearer token, which the API server reviews.
    pub(super) async fn of_token(api: &Api, headers: &HeaderMap) -> Result<Option<Self>, RequestError> {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(token) = value.and_then(|value| value.strip_prefix("Bearer ")) else { return Ok(None) };
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token},
        });
        let path = ResourcePath::path("/apis/authentication.k8s.io/v1/tokenreviews");
        let review: Value = api.create(&path, &review).await?;
        if review["status"]["authenticated"] != true {
            return Ok(None);
        }
        let user = &review["status"]["user"];
        let groups = user["groups"].as_array().into_iter().flatten();
        Ok(Some(Self {
            name: user["username"].as_str().unwrap_or_default().to_owned(),
            groups: groups.filter_map(|group| group.as_str().map(str::to_owned)).collect(),
        }))
    }

    /// Whether the user may send this request, by the rules for the subresources of the node.
    pub(super) async fn may(
        &self,
        api: &Api,
        node: &str,
        method: &Method,
        path: &str,
    ) -> Result<bool, RequestError> {
        if self.groups.iter().any(|group| group == MASTERS) {
            return Ok(true);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": self.name,
                "groups": self.groups,
                "resourceAttributes": {
                    "verb": verb(method), "version": "v1", "resource": "nodes", "subresource": subresource(path),
                    "name": node,
                },
            },
        });
        let path = ResourcePath::path("/apis/authorization.k8s.io/v1/subjectaccessreviews");
        let review: Value = api.create(&path, &review).await?;
        Ok(review["status"]["allowed"] == true)
    }
}

fn verb(method: &Method) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "get",
    }
}

/// Returns the subresource that a path of the server belongs to, as for a kubelet.
fn subresource(path: &str) -> &'static str {
    match path.split('/').nth(1).unwrap_or_default() {
        "stats" => "stats",
        "metrics" => "metrics",
        "logs" => "log",
        _ => "proxy",
    }
}
