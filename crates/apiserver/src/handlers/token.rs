//! The subresource `token` of service accounts: issues tokens.

use gantry_json::{Value, json};
use gantry_managed_fields::ownership::{FieldSet, Write, track_update};
use gantry_primitives::FieldError;
use gantry_registry::access::node::restriction;
use gantry_schema::decode::{self, Gvk};
use gantry_schema::encode;
use gantry_schema::kinds::{Nature, Verb, kinds};
use gantry_schema::schema::schema;

use super::call::Call;
use super::update::check_namespace;
use super::write::warn;
use crate::authentication::jwt;
use crate::authentication::service_account::Claims;
use crate::error::{ApiError, ObjectName};
use crate::objects::ObjectRef;
use crate::query::Validation;
use crate::response::ApiResponse;

const GROUP: &str = "authentication.k8s.io";
const VERSION: &str = "authentication.k8s.io/v1";
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
        let options = self.info.query.write_options("CreateOptions", self.info.user_agent())?;
        let gvk = Gvk::new(GROUP, "v1", "TokenRequest");
        let decoded = decode::object(&self.body, self.format()?, gvk)?;
        let findings = decoded.findings.clone();
        let request =
            if options.validation == Validation::Strict { decoded.strict(gvk)? } else { decoded.object };
        let nature = &Nature::from(message);
        let response = match self.issue_token(request, nature, &options.manager).await {
            Ok(issued) => ApiResponse::json(201, encode::object(&issued, nature)),
            Err(error) if findings.is_empty() => return Err(error),
            Err(error) => ApiResponse::error(&error),
        };
        Ok(warn(response, &options, &findings))
    }

    /// Returns the request with a token in its status.
    async fn issue_token(
        &self,
        mut request: Value,
        nature: &Nature,
        manager: &str,
    ) -> Result<Value, ApiError> {
        let (namespace, name) = (self.namespace.unwrap_or_default(), self.name.unwrap_or_default());
        check_namespace(self, &mut request)?;
        default_seconds(&mut request);
        let now = self.server.environment.now();
        let write = Write {
            kind: "TokenRequest",
            nature,
            api_version: VERSION,
            subresource: "token",
            manager,
            reset: &FieldSet::new(),
            now: &now.to_string(),
        };
        track_update(None, &mut request, &write);
        check_name(&request, name)?;
        let account = self.server.objects.get(self.object_ref()).await?;
        check_account(&request, &account)?;
        self.fill_in(&mut request, &account);
        check_spec(&request["spec"])?;
        let bound = self.bound(&request["spec"]["boundObjectRef"]).await?;
        if let Some(node) = self.info.caller.node() {
            let pod = bound.iter().find(|(claim, _)| *claim == "pod").map(|(_, pod)| pod);
            restriction::check_token(node, &request["spec"]["boundObjectRef"], pod)
                .map_err(|why| ApiError::forbidden(self.object_ref(), why))?;
        }
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
        request["metadata"]["creationTimestamp"] = json!(now.to_string());
        request["status"] =
            json!({"token": token, "expirationTimestamp": now.plus(lifetime_seconds).to_string()});
        Ok(request)
    }

    /// Sets the fields that the request leaves to the server or that depend on the account.
    fn fill_in(&self, request: &mut Value, account: &Value) {
        let audiences = &mut request["spec"]["audiences"];
        if audiences.as_array().is_none_or(Vec::is_empty) {
            *audiences = json!(self.server.settings.access.audiences());
        }
        for field in ["name", "uid"] {
            if request["metadata"][field].as_str().is_none_or(str::is_empty) {
                request["metadata"][field] = account["metadata"][field].clone();
            }
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

fn default_seconds(request: &mut Value) {
    for field in ["metadata", "spec"] {
        if request[field].is_null() {
            request[field] = json!({});
        }
    }
    if request["spec"]["expirationSeconds"].is_null() {
        request["spec"]["expirationSeconds"] = json!(SECONDS_DEFAULT);
    }
}

/// The name in the body, if set, must equal the name in the path.
fn check_name(request: &Value, name: &str) -> Result<(), ApiError> {
    let given = &request["metadata"]["name"];
    if given.as_str().is_some_and(|given| !given.is_empty() && given != name) {
        let why = "must match the service account name if specified";
        let wrong = FieldError::invalid("metadata.name", given, why);
        return Err(ApiError::invalid("TokenRequest", GROUP, name, &[wrong]));
    }
    Ok(())
}

/// The uid in the body, if set, must equal the uid of the account.
fn check_account(request: &Value, account: &Value) -> Result<(), ApiError> {
    let text =
        |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (given, known) = (text(request, "uid"), text(account, "uid"));
    if given.is_empty() || given == known {
        return Ok(());
    }
    let why = format!(
        "the UID in the token request ({given}) does not match the UID of the service account ({known})"
    );
    let object = ObjectName { group: GROUP, resource: "TokenRequest", name: text(account, "name") };
    Err(ApiError::Conflict { object, why })
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
