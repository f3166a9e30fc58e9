//! JSON patch, merge patch and strategic merge patch.
//!
//! [`apply`] takes the served object and the body of the request, and returns the patched object. Decoding it
//! ([`undecodable`] is the error), defaults, validation and field ownership are up to the caller. Server-side apply is
//! in another crate.
//!
//! *Invariant:* object and patch in, object or error out.

mod document;
mod json;
mod merge;
mod strategic;

use gantry_json::{Value, json};

use gantry_primitives::go_print::as_go_prints;
use gantry_primitives::{Details, FieldError, Refusal, StatusReason};
use gantry_schema::decode::UNREADABLE;
use gantry_schema::decode::{Finding, TOO_DEEP, json_word};
use gantry_schema::kinds::Nature;

/// The type of a patch, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// A list of operations: RFC 6902.
    Json,
    /// A partial object; lists are replaced: RFC 7386.
    Merge,
    /// A partial object; lists merge as the schema says.
    Strategic,
}

/// Applies a patch.
///
/// `nature` is the schema of `current`; only strategic merge patches need it, and only of built-in kinds.
pub fn apply(kind: PatchKind, current: &Value, nature: &Nature, body: &Value) -> Result<Value, Refusal> {
    match (kind, nature) {
        (PatchKind::Json, _) => json::apply(current, body),
        (PatchKind::Merge, _) => merge::apply(current, body),
        (PatchKind::Strategic, Nature::BuiltIn(message)) => strategic::apply(current, *message, body),
        (PatchKind::Strategic, Nature::Custom(_)) => Err(not_strategic()),
    }
}

/// The findings of strict validation in the patch itself: duplicates, and unknown members of operations.
///
/// Unknown fields of the result are found when it is decoded.
pub fn findings(kind: PatchKind, body: &Value, duplicates: Vec<Finding>) -> Vec<Finding> {
    match kind {
        PatchKind::Json => json::findings(body, duplicates),
        PatchKind::Merge | PatchKind::Strategic => duplicates,
    }
}

/// The error about a strategic merge patch of a custom kind: 415.
pub fn not_strategic() -> Refusal {
    Refusal::unknown_format(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}

/// The error about a body that is not JSON: 400.
pub fn not_json() -> Refusal {
    Refusal::bad_request("invalid JSON patch")
}

/// The error about a body that could not be parsed; `why` is the error of the parser.
pub fn unread(why: &str) -> Refusal {
    if why == TOO_DEEP { Refusal::bad_request(format!("error decoding patch: {why}")) } else { not_json() }
}

/// The error about a result that cannot be decoded: 422, without kind and name (A3.4).
///
/// `why` is the decoder's error, or `strict decoding error: …`. The error shows a strategic merge patch itself, and of
/// other patches the result.
pub fn undecodable(kind: PatchKind, body: &Value, patched: &Value, why: &str) -> Refusal {
    if kind == PatchKind::Strategic && why.starts_with(UNREADABLE) {
        return Refusal::server_error(why);
    }
    let shown = match kind {
        PatchKind::Json | PatchKind::Merge => patched.to_string(),
        PatchKind::Strategic => as_go_prints(body),
    };
    Refusal::invalid("", "", "", &[FieldError::invalid("patch", &json!(shown), why)])
}

/// The error about a valid patch that does not apply to the object: 422 without a reason (A3.5).
fn does_not_apply() -> Refusal {
    let message = "the server rejected our request due to an error in our request";
    Refusal::new(StatusReason::Invalid, message).with(Details::default())
}

/// Go's error about a JSON value of the wrong type.
fn unreadable(value: &Value, target: &str) -> String {
    format!("json: cannot unmarshal {} into Go {target}", json_word(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A3.4: the refusal has neither kind nor name, and one cause in the field `patch`.
    #[test]
    fn an_undecodable_result_is_refused_without_kind_and_name() {
        let why = "json: cannot unmarshal number into Go struct field ConfigMap.data of type string";
        let (body, patched) = (json!({"data": {"k": 5}}), json!({"data": {"k": 5}, "kind": "ConfigMap"}));
        let status = undecodable(PatchKind::Merge, &body, &patched, why).status();
        assert_eq!(
            status["message"],
            format!(
                r#" "" is invalid: patch: Invalid value: "{{\"data\":{{\"k\":5}},\"kind\":\"ConfigMap\"}}": {why}"#
            )
        );
        let causes = status["details"]["causes"].as_array().unwrap();
        assert_eq!((causes.len(), &causes[0]["field"]), (1, &json!("patch")));
        assert_eq!(status["details"].as_object().unwrap().len(), 1, "causes and nothing else");
        let strategic =
            undecodable(PatchKind::Strategic, &body, &patched, "cannot restore slice from string");
        assert!(strategic.message.contains(r#"Invalid value: "map[data:map[k:5]]": cannot"#), "{strategic}");
    }

    /// A2.23: unknown members of operations are findings of strict validation.
    #[test]
    fn unknown_members_of_operations_are_found() {
        let body = json!([{"op": "remove", "path": "/a"}, {"op": "add", "path": "/a", "value": 1, "was": 2}]);
        let twice = || vec![Finding::Duplicate("[0].path".to_owned())];
        let messages: Vec<_> =
            findings(PatchKind::Json, &body, twice()).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [r#"json patch duplicate field "[0].path""#, r#"json patch unknown field "[1].was""#]
        );
        assert_eq!(findings(PatchKind::Merge, &json!({"was": 2}), twice()), twice());
    }
}
