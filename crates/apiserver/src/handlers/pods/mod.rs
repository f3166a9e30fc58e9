//! Parts of pods that only pods have.

mod binding;
mod connect;
mod eviction;
mod log;

use gantry_registry::Refusal;
use gantry_registry::decode::{self, Finding, Gvk};
use gantry_registry::kinds::Kind;
use http::Method;
use http::request::Parts;
use serde_json::{Value, json};

use super::call::Call;
use super::stored::check_place;
use super::write::{Part, warn};
use super::{method_not_allowed, no_such_resource, read};
use crate::admission;
use crate::answer::Answer;
use crate::query::{Validation, WriteOptions};

/// Answers a request for a part of a pod, or for a connection to anything that has one.
pub(super) async fn part(call: &Call<'_>, parts: &Parts, path: &str) -> Result<Answer, Refusal> {
    let part = first_of(path);
    if call.kind.subresource(part).is_none() || (part != path && part != "proxy") {
        return Err(no_such_resource());
    }
    match (part, &parts.method) {
        ("binding", &Method::POST) => call.bind().await,
        ("eviction", &Method::POST) => call.evict().await,
        ("ephemeralcontainers", method) => call.own_part(method, Part::EphemeralContainers).await,
        ("resize", method) => call.own_part(method, Part::Resize).await,
        ("log", &Method::GET) => call.log().await,
        ("attach" | "exec" | "portforward", &Method::GET | &Method::POST) => call.stream(parts, part).await,
        ("proxy", _) => call.proxy(parts).await,
        _ => Err(method_not_allowed()),
    }
}

/// Whether this path behind an object's name is answered here.
pub(super) fn answers(kind: &Kind, path: &str) -> bool {
    let is_written = matches!(first_of(path), "binding" | "ephemeralcontainers" | "eviction" | "resize");
    kind.subresource(first_of(path)).is_some() && (is_written || answers_in_its_own_way(kind, Some(path)))
}

/// Whether what is answered is no object, so that nobody can ask for another form of it.
pub(super) fn answers_in_its_own_way(kind: &Kind, path: Option<&str>) -> bool {
    let part = path.map(first_of).unwrap_or_default();
    matches!(part, "attach" | "exec" | "log" | "portforward" | "proxy") && kind.subresource(part).is_some()
}

fn first_of(path: &str) -> &str {
    path.split_once('/').map_or(path, |(part, _)| part)
}

impl Call<'_> {
    /// A part of the pod that is read and written on its own.
    async fn own_part(&self, method: &Method, part: Part) -> Result<Answer, Refusal> {
        match *method {
            Method::GET => read::object(self).await,
            Method::PUT => self.put(part).await,
            Method::PATCH => self.patch(part).await,
            _ => Err(method_not_allowed()),
        }
    }

    /// What is posted to a part: an object of another kind, for the object of the path. And what was ignored in it.
    fn posted(
        &self,
        expected: Gvk<'_>,
        former: &[&str],
        options: &WriteOptions,
    ) -> Result<(Value, Vec<Finding>), Refusal> {
        let decoded = decode::object_or_former(&self.body, self.format()?, expected, former)?;
        Ok(match options.validation {
            Validation::Strict => (decoded.strict(expected)?, Vec::new()),
            Validation::Warn | Validation::Ignore => (decoded.object, decoded.findings),
        })
    }

    /// Checks where the object that was posted to a part says it is, and that its namespace is there.
    async fn check_posted_place(&self, object: &mut Value) -> Result<(), Refusal> {
        check_place(self, object)?;
        let name = self.name.or_else(|| object["metadata"]["name"].as_str()).unwrap_or_default();
        admission::grounds(&self.server.objects, self.place_of(name), &json!({"metadata": {"name": name}}))
            .await
            .map(drop)
    }
}

/// The answer to what was posted to a part: success, or a refusal. What was ignored is told in either case.
fn done(
    outcome: Result<(), Refusal>,
    options: &WriteOptions,
    findings: &[Finding],
) -> Result<Answer, Refusal> {
    let success =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    match outcome {
        Ok(()) => Ok(warn(Answer::value(201, &success), options, findings)),
        Err(refusal) if findings.is_empty() => Err(refusal),
        Err(refusal) => Ok(warn(Answer::refused(&refusal), options, findings)),
    }
}

/// A name in the body that is not the one in the path.
fn check_posted_name(url_name: &str, object: &Value, kind: &str) -> Result<(), Refusal> {
    if object["metadata"]["name"].as_str().unwrap_or_default() == url_name {
        return Ok(());
    }
    Err(Refusal::bad_request(format!("name in URL does not match name in {kind} object")))
}
