//! Access, rules and token reviews: objects that are returned with a status and not stored.

use gantry_json::{Map, Value, json};
use gantry_managed_fields::ownership::track_update;
use gantry_primitives::FieldError;
use gantry_registry::access::{AccessRule, RequestAttributes, RequestTarget, User, Verdict};
use gantry_registry::strategies::Review;

use super::call::Call;
use super::update::{field_write, reset_fields};
use super::write::{Part, warn};
use crate::authentication::service_account::BadToken;
use crate::authentication::{TokenUser, authenticate_token};
use crate::authorization::Permissions;
use crate::error::ApiError;
use crate::response::ApiResponse;

const AUTHORIZATION: &str = "authorization.k8s.io";

impl Call<'_> {
    /// Creates a review and fills in its status.
    pub(super) async fn review(&self, question: Review) -> Result<ApiResponse, ApiError> {
        let options = self.info.query.write_options("CreateOptions", self.info.user_agent())?;
        let (mut review, findings) = self.decoded(&options)?;
        super::update::check_namespace(self, &mut review)?;
        let status = match question {
            Review::Token => self.token_review(&review).await?,
            Review::Caller => json!({"userInfo": user_info(&self.info.caller.user)}),
            Review::OwnRules => {
                let rules = self.rules_review(&review)?;
                review["spec"] = json!({});
                rules
            }
            Review::OwnAccess => {
                check_review(&review, Subject::Caller, None)?;
                let request = reviewed_request(&review["spec"]);
                verdict(&self.info.caller.permissions.authorize(&self.info.caller.user, &request))
            }
            Review::Access => {
                check_review(&review, Subject::Named, self.namespace)?;
                let (user, request) = (subject(&review["spec"]), reviewed_request(&review["spec"]));
                let permissions = Permissions::of(self.server, &user).await?;
                verdict(&permissions.authorize(&user, &request))
            }
        };
        let (reset, now) = (reset_fields(self.kind, Part::Main), self.server.environment.now().to_string());
        track_update(None, &mut review, &field_write(self, Part::Main, &options, &reset, &now));
        review["status"] = status;
        Ok(warn(self.render(201, &review)?, &options, &findings))
    }

    async fn token_review(&self, review: &Value) -> Result<Value, ApiError> {
        let token = review["spec"]["token"].as_str().unwrap_or_default();
        if token.is_empty() {
            return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
        }
        let wanted = texts(&review["spec"]["audiences"]);
        let wanted = if wanted.is_empty() { self.server.settings.access.audiences() } else { wanted };
        match authenticate_token(self.server, token, &wanted).await {
            Ok(TokenUser { user, audiences }) => {
                Ok(json!({"authenticated": true, "user": user_info(&user), "audiences": audiences}))
            }
            Err(BadToken::Unknown) => Ok(json!({"user": {}, "error": "invalid bearer token"})),
            Err(BadToken::Invalid(why)) => {
                Ok(json!({"user": {}, "error": format!("[invalid bearer token, {why}]")}))
            }
            Err(BadToken::Unreadable(refusal)) => Err(refusal),
        }
    }

    fn rules_review(&self, review: &Value) -> Result<Value, ApiError> {
        let namespace = review["spec"]["namespace"].as_str().unwrap_or_default();
        if namespace.is_empty() {
            return Err(ApiError::bad_request("no namespace on request"));
        }
        let (mut resources, mut paths) = (Vec::new(), Vec::new());
        match &self.info.caller.permissions {
            Permissions::All => {
                resources.push(json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
                paths.push(json!({"verbs": ["*"], "nonResourceURLs": ["*"]}));
            }
            Permissions::Rbac(policy) | Permissions::Node { policy, .. } => {
                for rule in policy.held(&self.info.caller.user, Some(namespace)) {
                    let list = if rule.paths.is_empty() { &mut resources } else { &mut paths };
                    list.push(rendered(rule));
                }
            }
        }
        let mut status = json!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false});
        if let Permissions::Node { .. } = &self.info.caller.permissions {
            status["incomplete"] = json!(true);
            status["evaluationError"] = json!("node authorizer does not support user rule resolution");
        }
        Ok(status)
    }
}

/// The user whose permissions a review evaluates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Caller,
    Named,
}

/// Returns 422 for an invalid review. A local one must be about its own namespace.
fn check_review(review: &Value, subject: Subject, namespace: Option<&str>) -> Result<(), ApiError> {
    let spec = &review["spec"];
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let mut wrong = Vec::new();
    if resource.is_null() == path.is_null() {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        wrong.push(FieldError::invalid("spec", &go_shaped(path), why));
    }
    if subject == Subject::Named && is_empty(&spec["user"]) && is_empty(&spec["groups"]) {
        let why = "at least one of user or group must be specified";
        wrong.push(FieldError::invalid("spec.user", &json!(""), why));
    }
    let mut metadata = review["metadata"].as_object().cloned().unwrap_or_default();
    metadata.remove("managedFields");
    if namespace.is_some() {
        metadata.remove("namespace");
    }
    if !metadata.is_empty() {
        let why = if namespace.is_some() { "must be empty except for namespace" } else { "must be empty" };
        wrong.push(FieldError::invalid("metadata", &Value::Object(metadata), why));
    }
    if let Some(namespace) = namespace {
        let requested = resource["namespace"].as_str().unwrap_or_default();
        if !resource.is_null() && requested != namespace {
            let field = "spec.resourceAttributes.namespace";
            wrong.push(FieldError::invalid(field, &json!(requested), "must match metadata.namespace"));
        }
        if !path.is_null() {
            let why = "disallowed on this kind of request";
            wrong.push(FieldError::invalid("spec.nonResourceAttributes", &go_shaped(path), why));
        }
    }
    // The reference omits the kind in this message.
    if wrong.is_empty() { Ok(()) } else { Err(ApiError::invalid("", AUTHORIZATION, "", &wrong)) }
}

/// The request in a review's spec.
fn reviewed_request(spec: &Value) -> RequestAttributes {
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let some = |field: &str| Some(text(&resource[field])).filter(|text| !text.is_empty());
    if resource.is_null() {
        return RequestAttributes {
            verb: text(&path["verb"]),
            target: RequestTarget::Path(text(&path["path"])),
        };
    }
    let target = RequestTarget::Resource {
        group: text(&resource["group"]),
        resource: text(&resource["resource"]),
        subresource: some("subresource"),
        namespace: some("namespace"),
        name: some("name"),
    };
    RequestAttributes { verb: text(&resource["verb"]), target }
}

/// The user in a review's spec.
fn subject(spec: &Value) -> User {
    let text = |field: &str| spec[field].as_str().unwrap_or_default().to_owned();
    let extra = spec["extra"].as_object().into_iter().flatten();
    User {
        name: text("user"),
        groups: texts(&spec["groups"]),
        uid: text("uid"),
        extra: extra.map(|(key, values)| (key.to_string(), texts(values))).collect(),
    }
}

fn verdict(verdict: &Verdict) -> Value {
    let (allowed, reason) = match verdict {
        Verdict::Allowed(reason) => (true, reason),
        Verdict::Denied(reason) => (false, reason),
    };
    let mut status = json!({"allowed": allowed});
    if let Some(reason) = reason {
        status["reason"] = json!(reason);
    }
    status
}

/// A user in a review's status.
fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name});
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    if !user.groups.is_empty() {
        info["groups"] = json!(user.groups);
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

fn rendered(rule: &AccessRule) -> Value {
    let mut shown = json!({"verbs": rule.verbs});
    for (field, list) in [
        ("apiGroups", &rule.groups),
        ("resources", &rule.resources),
        ("resourceNames", &rule.names),
        ("nonResourceURLs", &rule.paths),
    ] {
        if !list.is_empty() {
            shown[field] = json!(list);
        }
    }
    shown
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => true,
    }
}

/// Non-resource attributes as the reference prints them: with the names of Go fields.
fn go_shaped(path: &Value) -> Value {
    let Some(fields) = path.as_object() else { return Value::Null };
    let text = |field: &str| fields.get(field).cloned().unwrap_or_else(|| json!(""));
    Value::Object(Map::from_iter([("Path".to_owned(), text("path")), ("Verb".to_owned(), text("verb"))]))
}
