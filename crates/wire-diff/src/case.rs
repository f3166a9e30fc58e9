//! A case as a value: the requests of one seed, before any of them is sent.
//!
//! Paths and bodies contain placeholders for values that are known only when the case is played: `{ns}` is the
//! namespace of the play; `{rv.2}`, `{uid.2}` and `{continue.2}` are taken from the response to the third recorded
//! request.

use gantry_json::{Value, json};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The case of one seed of a family.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    /// The key of the counts: a resource, or another word for the subject of the case.
    pub(crate) kind: String,
    pub(crate) steps: Vec<Step>,
}

/// One step of a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Sends a request and records the response.
    Send(Request),
    /// Opens a watch and records its events until the case ends or the server ends the watch.
    Watch(Request),
    /// Waits until the server ends the watch that was opened last, and records whether it did.
    WatchEnds,
    /// Waits, unrecorded, until a CustomResourceDefinition is established and its resource served.
    Served { definition: String, resource: String },
    /// Waits, unrecorded, until a changed CustomResourceDefinition has had time to take effect.
    Settle,
}

/// A request with placeholders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) accept: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: Body,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    None,
    Json(Value),
    Text(String),
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";
pub(crate) const YAML: &str = "application/yaml";
pub(crate) const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
pub(crate) const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

impl Request {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), accept: JSON, content_type: "", body: Body::None }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new("POST", path).with(JSON, body)
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        Self::new("PUT", path).with(JSON, body)
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new("DELETE", path)
    }

    pub(crate) fn patch(content_type: &'static str, path: impl Into<String>, body: Value) -> Self {
        Self::new("PATCH", path).with(content_type, body)
    }

    /// Returns the request with a JSON body of a content type.
    pub(crate) fn with(self, content_type: &'static str, body: Value) -> Self {
        Self { content_type, body: Body::Json(body), ..self }
    }

    /// Returns the request with another `accept` header, for another layout or encoding of the response.
    pub(crate) fn accepting(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    /// Returns the request in one line, without its body.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl Case {
    /// Returns the case as JSON, with which the case of a cached response is compared.
    pub(crate) fn to_json(&self) -> Value {
        json!({"kind": self.kind, "steps": self.steps.iter().map(Step::to_json).collect::<Vec<_>>()})
    }

    /// Returns the recorded requests, in the order of their exchanges.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = &Request> {
        self.steps.iter().filter_map(|step| match step {
            Step::Send(request) | Step::Watch(request) => Some(request),
            _ => None,
        })
    }
}

impl Step {
    fn to_json(&self) -> Value {
        match self {
            Self::Send(request) => json!({"send": request.to_json()}),
            Self::Watch(request) => json!({"watch": request.to_json()}),
            Self::WatchEnds => json!("watch ends"),
            Self::Served { definition, resource } => json!({"served": definition, "resource": resource}),
            Self::Settle => json!("settle"),
        }
    }
}

impl Request {
    pub(crate) fn to_json(&self) -> Value {
        let body = match &self.body {
            Body::None => Value::Null,
            Body::Json(value) => value.clone(),
            Body::Text(text) => json!(text),
        };
        json!({"request": self.line(), "accept": self.accept, "type": self.content_type, "body": body})
    }
}

/// Encodes a value for the query of a URL. Braces are kept for placeholders.
pub(crate) fn encoded(value: &str) -> String {
    const ENCODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'{').remove(b'}');
    utf8_percent_encode(value, ENCODED).to_string()
}

/// Returns a path with these query parameters, in order.
pub(crate) fn with_query(path: &str, parameters: &[(&str, String)]) -> String {
    let joined: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    match (joined.is_empty(), path.contains('?')) {
        (true, _) => path.to_owned(),
        (false, true) => format!("{path}&{}", joined.join("&")),
        (false, false) => format!("{path}?{}", joined.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_are_encoded_but_placeholders_are_kept() {
        let path = with_query(
            "/a",
            &[("labelSelector", "x in (a, b)".to_owned()), ("continue", "{continue.2}".to_owned())],
        );
        assert_eq!(path, "/a?labelSelector=x%20in%20%28a%2C%20b%29&continue={continue.2}");
    }

    #[test]
    fn only_requests_that_are_recorded_are_counted() {
        let steps = vec![
            Step::Settle,
            Step::Send(Request::get("/a")),
            Step::Watch(Request::get("/b")),
            Step::WatchEnds,
        ];
        let case = Case { kind: String::new(), steps };
        assert_eq!(case.recorded().map(Request::line).collect::<Vec<_>>(), ["GET /a", "GET /b"]);
    }
}
