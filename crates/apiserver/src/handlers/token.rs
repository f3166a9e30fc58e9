//! The subresource `token` of service accounts: issues tokens.

use gantry_registry::decode::{self, Gvk};
use gantry_registry::kinds::{Verb, kinds};
use gantry_registry::schema::schema;
use gantry_registry::{FieldError, encode};
use serde_json::{Value, json};

use super::call::Call;
use super::write::warn;
use crate::authentication::jwt;
use crate::authentication::service_account::Claims;
use crate::error::{ApiError, ObjectName};
use crate::objects::ObjectRef;
use crate::query::Validation;
use crate::response::ApiResponse;

const GROUP: &str = "authentication.k8s.io";
const SECONDS_DEFAULT: i64 = 3600;
const SECONDS_MIN: i64 = 600;
const SECONDS_MAX: i64 = 1 << 32;

impl Call<'_> {
    /// Issues a token for the service account.
    pub(super) async fn create_token(&self) -> Result<ApiResponse, ApiError> {
        let message = schema().find("authentication/v1.TokenRequest").ok_or(ApiError::ResourceNotFound)?;
        let kind = self.kind.subresource("token").ok_or(ApiError::ResourceNotFound)?;
        if !kind.verbs.contains(&Verb::Create) {
            return Err(ApiError::MethodNotAllowed);
        }
        let options = self.info.query.write_options("CreateOptions", self.info.user_agent)?;
        let gvk = Gvk::new(GROUP, "v1", "TokenRequest");
        let decoded = decode::object(&self.body, self.format()?, gvk)?;
        let findings = decoded.findings.clone();
        let mut request =
            if options.validation == Validation::Strict { decoded.strict(gvk)? } else { decoded.object };
        let (namespace, name) = (self.namespace.unwrap_or_default(), self.name.unwrap_or_default());
        check_metadata(&request, namespace, name)?;
        let account = self.server.objects.get(self.object_ref()).await?;
        self.fill_in(&mut request);
        check_spec(&request["spec"])?;
        let bound = self.bound(&request["spec"]["boundObjectRef"]).await?;
        let now = self.server.environment.now();
        let lifetime_seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or(SECONDS_DEFAULT);
        let claims = Claims {
            issuer: &self.server.settings.access.issuer,
            id: &self.server.environment.uid(),
            namespace,
            account: &account,
            audiences: &request["spec"]["audiences"],
            now,
            lifetime_seconds,
            bound,
        };
        let key = self.server.signing_keys.get_or_create(self.server.objects.store.as_ref()).await?;
        let token = jwt::sign(&claims.render(), &key)
            .ok_or_else(|| ApiError::unclassified("the token could not be signed"))?;
        request["metadata"] = json!({});
        for field in ["name", "namespace", "uid", "creationTimestamp"] {
            request["metadata"][field] = account["metadata"][field].clone();
        }
        request["status"] =
            json!({"token": token, "expirationTimestamp": now.plus(lifetime_seconds).to_string()});
        Ok(warn(ApiResponse::json(201, encode::object(&request, &message.into())), &options, &findings))
    }

    fn fill_in(&self, request: &mut Value) {
        if request["spec"].is_null() {
            request["spec"] = json!({});
        }
        let spec = &mut request["spec"];
        if spec["audiences"].as_array().is_none_or(Vec::is_empty) {
            spec["audiences"] = json!(self.server.settings.access.audiences());
        }
        if spec["expirationSeconds"].is_null() {
            spec["expirationSeconds"] = json!(SECONDS_DEFAULT);
        }
    }

    /// Looks up the objects that the token is bound to. Returns an error if one is absent or has another uid.
    async fn bound(&self, reference: &Value) -> Result<Vec<(&'static str, Value)>, ApiError> {
        if reference.is_null() {
            return Ok(Vec::new());
        }
        let text = |field: &str| reference[field].as_str().unwrap_or_default();
        let (kind, claim, resource) = match (text("apiVersion"), text("kind")) {
            ("v1", "Pod") => ("Pod", "pod", "pods"),
            ("v1", "Secret") => ("Secret", "secret", "secrets"),
            ("v1", "Node") => ("Node", "node", "nodes"),
            (version, kind) => {
                let group_version = version.rsplit_once('/').unwrap_or(("", version));
                let shown = format!("{}/{}, Kind={kind}", group_version.0, group_version.1);
                return Err(ApiError::bad_request(format!("cannot bind token to object of type {shown}")));
            }
        };
        let object = self.get_core_object(resource, text("name")).await?;
        let (account, name) = (self.name.unwrap_or_default(), text("name"));
        if claim == "pod" && object["spec"]["serviceAccountName"] != account {
            return Err(ApiError::bad_request(format!(
                "cannot bind token for serviceaccount \"{account}\" to pod running with different serviceaccount name."
            )));
        }
        if !text("uid").is_empty() && reference["uid"] != object["metadata"]["uid"] {
            return Err(uid_mismatch(kind, name, text("uid")));
        }
        let node = object["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
        let mut bound = vec![(claim, object)];
        if claim == "pod" && !node.is_empty() {
            // The name of a deleted node is included as well.
            let unknown = json!({"metadata": {"name": node}});
            bound.push(("node", self.get_core_object("nodes", &node).await.unwrap_or(unknown)));
        }
        Ok(bound)
    }

    /// Gets an object of the core group, in the account's namespace if it is namespaced.
    async fn get_core_object(&self, resource: &str, name: &str) -> Result<Value, ApiError> {
        let kind = kinds().resource("", "v1", resource).ok_or(ApiError::ResourceNotFound)?;
        self.server.objects.get(ObjectRef { kind, namespace: self.namespace, name }).await
    }
}

/// Name and namespace in the body, if set, must be those of the path.
fn check_metadata(request: &Value, namespace: &str, name: &str) -> Result<(), ApiError> {
    for (field, wanted, what) in [("name", name, "name"), ("namespace", namespace, "namespace")] {
        let given = &request["metadata"][field];
        if given.as_str().is_some_and(|given| !given.is_empty() && given != wanted) {
            let why = format!("must match the service account {what} if specified");
            let wrong = FieldError::invalid(format!("metadata.{field}"), given, why);
            return Err(ApiError::invalid("TokenRequest", GROUP, name, &[wrong]));
        }
    }
    Ok(())
}

fn check_spec(spec: &Value) -> Result<(), ApiError> {
    let seconds = &spec["expirationSeconds"];
    let why = match seconds.as_i64().unwrap_or(0) {
        ..SECONDS_MIN => "may not specify a duration less than 10 minutes",
        SECONDS_MIN..=SECONDS_MAX => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let wrong = FieldError::invalid("spec.expirationSeconds", seconds, why);
    Err(ApiError::invalid("TokenRequest", GROUP, "", &[wrong]))
}

fn uid_mismatch(kind: &'static str, name: &str, uid: &str) -> ApiError {
    let why = format!(
        "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been \
         deleted and then recreated"
    );
    ApiError::conflict(ObjectName { group: "", resource: kind, name: name.to_owned() }, why)
}
