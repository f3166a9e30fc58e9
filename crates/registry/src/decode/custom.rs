//! Bodies that are about objects of custom kinds.
//!
//! They say what they are, always. Their metadata is that of any object; the rest is cut to what their definition
//! declares, and what had to go is found.

use serde_json::{Map, Value, json};

use super::{Content, Decoded, Finding, Format, Gvk, Head, read, walk};
use crate::custom::Custom;
use crate::decode::tree::Tree;
use crate::schema::schema;
use crate::{FieldError, Refusal};

/// Reads the body of a request that is about objects of a custom kind.
pub fn object(body: &[u8], format: Format, expected: Gvk<'_>, custom: &Custom) -> Result<Decoded, Refusal> {
    let Gvk { kind, version, .. } = expected;
    let refused = |problem: String| {
        Refusal::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {kind}: {problem}"
        ))
    };
    let (head, content) = read(body, format).map_err(|problem| super::unrecognized(kind, &problem, body))?;
    let Content::Document(mut document, mut findings) = content else {
        return Err(refused("protobuf is no format for custom kinds".to_owned()));
    };
    if head.kind.is_empty() {
        let body = String::from_utf8_lossy(body);
        return Err(refused(format!("Object 'Kind' is missing in '{body}'")));
    }
    head.gvk(expected).map_err(refused)?;
    document.root.duplicates("", &mut findings);
    let object = document.root.take_value();
    check_head(&head, object["metadata"]["name"].as_str().unwrap_or_default(), expected)?;
    let mut decoded = value(object, custom).map_err(refused)?;
    findings.append(&mut decoded.findings);
    Ok(Decoded { object: decoded.object, findings })
}

/// The body must be about an object of this very kind and version.
fn check_head(head: &Head, name: &str, expected: Gvk<'_>) -> Result<(), Refusal> {
    let version = expected.api_version();
    if head.api_version != version {
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({version})",
            head.api_version,
        )));
    }
    check_type(&head.kind, &head.api_version, name, expected)
}

/// An object that was put together from parts must be of this very kind and version.
pub fn check_kind(object: &Value, expected: Gvk<'_>) -> Result<(), Refusal> {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    check_type(
        text("kind"),
        text("apiVersion"),
        object["metadata"]["name"].as_str().unwrap_or_default(),
        expected,
    )
}

fn check_type(kind: &str, api_version: &str, name: &str, expected: Gvk<'_>) -> Result<(), Refusal> {
    let must_be = |field: &str, said: &str, wanted: &str| {
        let wrong = FieldError::invalid(field, &json!(said), format!("must be {wanted}"));
        (said != wanted).then_some(wrong)
    };
    let wrong =
        [must_be("kind", kind, expected.kind), must_be("apiVersion", api_version, &expected.api_version())];
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    if wrong.is_empty() {
        return Ok(());
    }
    // It is the object that is invalid, as what it says to be.
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Err(Refusal::invalid(kind, group, name, &wrong))
}

/// Brings an object of a custom kind that was put together from parts into normal form.
pub(super) fn value(mut object: Value, custom: &Custom) -> Result<Decoded, String> {
    let mut findings = Vec::new();
    let Value::Object(members) = &mut object else {
        return Err("it is no object".to_owned());
    };
    if let Some(metadata) = members.remove("metadata") {
        let metadata = normal_metadata(metadata, &mut findings)?;
        members.insert("metadata".to_owned(), Value::Object(metadata));
    }
    for path in custom.structure.prune(&mut object) {
        Finding::Unknown(path).note(&mut findings);
    }
    Ok(Decoded { object, findings })
}

/// Metadata as that of any other object.
fn normal_metadata(metadata: Value, findings: &mut Vec<Finding>) -> Result<Map<String, Value>, String> {
    let Some(message) = schema().find("meta/v1.ObjectMeta") else { return Err("no metadata".to_owned()) };
    let (members, found) = walk::object(&mut Tree::from(metadata), message)?;
    for finding in found {
        let finding = match finding {
            Finding::Unknown(path) => Finding::Unknown(format!("metadata.{path}")),
            Finding::Duplicate(path) => Finding::Duplicate(format!("metadata.{path}")),
            other @ Finding::Yaml(_) => other,
        };
        finding.note(findings);
    }
    Ok(members)
}
