//! Subresources of pods. Proxies are in `proxy`.

mod binding;
mod connect;
mod eviction;
mod log;

use gantry_json::{Value, json};
use gantry_schema::decode::{self, Finding, Gvk};
use gantry_schema::kinds::Kind;
use http::Method;

use super::call::Call;
use super::read;
use super::update::check_namespace;
use super::write::{Part, warn};
use crate::admission;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::query::{Validation, WriteOptions};
use crate::response::ApiResponse;

/// Handles a request for such a subresource.
pub(super) async fn part(call: &Call<'_>, path: &str) -> Result<ApiResponse, ApiError> {
    let part = first_segment(path);
    if call.kind.subresource(part).is_none() || part != path {
        return Err(ApiError::ResourceNotFound);
    }
    match (part, &call.info.method) {
        ("binding", &Method::POST) => call.bind().await,
        ("eviction", &Method::POST) => call.evict().await,
        ("ephemeralcontainers", method) => call.read_or_write_part(method, Part::EphemeralContainers).await,
        ("resize", method) => call.read_or_write_part(method, Part::Resize).await,
        ("log", &Method::GET) => call.log().await,
        ("attach" | "exec" | "portforward", &Method::GET | &Method::POST) => call.stream(part).await,
        _ => Err(ApiError::MethodNotAllowed),
    }
}

/// Whether the subresource is handled here.
pub(super) fn handles(kind: &Kind, path: &str) -> bool {
    let is_written = matches!(first_segment(path), "binding" | "ephemeralcontainers" | "eviction" | "resize");
    kind.subresource(first_segment(path)).is_some() && (is_written || is_raw_response(kind, Some(path)))
}

/// Whether the response is not an object, so that `Accept` does not apply.
pub(super) fn is_raw_response(kind: &Kind, path: Option<&str>) -> bool {
    let part = path.map(first_segment).unwrap_or_default();
    matches!(part, "attach" | "exec" | "log" | "portforward" | "proxy") && kind.subresource(part).is_some()
}

fn first_segment(path: &str) -> &str {
    path.split_once('/').map_or(path, |(part, _)| part)
}

impl Call<'_> {
    /// A subresource that is read and written like the object.
    pub(super) async fn read_or_write_part(
        &self,
        method: &Method,
        part: Part,
    ) -> Result<ApiResponse, ApiError> {
        match *method {
            Method::GET => read::object(self).await,
            Method::PUT => self.put(part).await,
            Method::PATCH => self.patch(part).await,
            _ => Err(ApiError::MethodNotAllowed),
        }
    }

    /// Decodes an object of another kind that is posted to a subresource; returns the ignored fields as findings.
    fn decode_posted(
        &self,
        expected: Gvk<'_>,
        former: &[&str],
        options: &WriteOptions,
    ) -> Result<(Value, Vec<Finding>), ApiError> {
        let decoded = decode::object_or_former(&self.body, self.format()?, expected, former)?;
        Ok(match options.validation {
            Validation::Strict => (decoded.strict(expected)?, Vec::new()),
            Validation::Warn | Validation::Ignore => (decoded.object, decoded.findings),
        })
    }

    /// Checks the namespace that a posted object names, and that it exists.
    async fn check_posted_namespace(&self, object: &mut Value) -> Result<(), ApiError> {
        check_namespace(self, object)?;
        let name = self.name.unwrap_or_else(|| Metadata::of(object).name());
        admission::preconditions(
            &self.server.objects,
            self.object_ref_of(name),
            &json!({"metadata": {"name": name}}),
        )
        .await
        .map(drop)
    }
}

/// The Status of a POST; ignored fields produce warnings in either case.
fn created_status(
    outcome: Result<(), ApiError>,
    options: &WriteOptions,
    findings: &[Finding],
) -> Result<ApiResponse, ApiError> {
    let success =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    match outcome {
        Ok(()) => Ok(warn(ApiResponse::value(201, success), options, findings)),
        Err(error) if findings.is_empty() => Err(error),
        Err(error) => Ok(warn(ApiResponse::error(&error), options, findings)),
    }
}

/// Returns 400 if the name in the body is not the name in the path.
fn check_posted_name(url_name: &str, object: &Value, kind: &str) -> Result<(), ApiError> {
    if Metadata::of(object).name() == url_name {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("name in URL does not match name in {kind} object")))
}
