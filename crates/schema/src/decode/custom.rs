//! Decodes objects of custom kinds.
//!
//! They must name their kind and version. Their metadata, and that of embedded resources, is decoded like that of any
//! object; the rest is pruned to the declared fields, and pruned fields are findings.

use gantry_json::{Map, Value, json};

use super::depth::{self, TOO_DEEP};
use super::tree::{SHALLOW, Tree};
use super::{Content, Decoded, Finding, Format, Gvk, json_word, read, walk};
use crate::custom::{AdditionalProperties, Custom, StructuralSchema};
use crate::empties::{self, Form};
use crate::schema::schema;
use gantry_primitives::Path;
use gantry_primitives::{FieldError, Refusal};

/// What happens to malformed metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// It is an error.
    Refused,
    /// It is dropped: stored objects must be readable.
    Dropped,
}

/// Decodes the body of a request for objects of a custom kind.
pub fn object(body: &[u8], format: Format, expected: Gvk<'_>, custom: &Custom) -> Result<Decoded, Refusal> {
    let Gvk { kind, version, .. } = expected;
    let unrecognized = |problem: String| super::unrecognized(kind, &problem, body);
    let (head, content) = read(body, format).map_err(unrecognized)?;
    let named = head.gvk(expected).map_err(unrecognized)?;
    let refused = |problem: String| {
        Refusal::bad_request(format!(
            "{} in version \"{version}\" cannot be handled as a {kind}: {problem}",
            named.kind
        ))
    };
    let Content::Document(mut document, mut findings) = content else {
        return Err(refused("protobuf is not supported for custom kinds".to_owned()));
    };
    if head.kind.is_empty() {
        return Err(unrecognized(kind_is_missing(&String::from_utf8_lossy(body))));
    }
    if document.depth > SHALLOW {
        return Err(refused(TOO_DEEP.to_owned()));
    }
    document.root.duplicates(&mut String::new(), &mut findings);
    let mut decoded = value(document.root.take_value(), custom, Malformed::Refused).map_err(refused)?;
    if head.api_version != expected.api_version() {
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            head.api_version,
            expected.api_version()
        )));
    }
    check_type(&decoded.object, expected)?;
    findings.append(&mut decoded.findings);
    Ok(Decoded { object: decoded.object, findings })
}

/// Checks that a computed object has a kind; the error is the decoder's.
pub(super) fn check_kind(object: &Value) -> Result<(), String> {
    match object["kind"].as_str() {
        None | Some("") => Err(kind_is_missing(&object.to_string())),
        Some(_) => Ok(()),
    }
}

/// Checks that an object has the expected kind and version.
pub fn check_type(object: &Value, expected: Gvk<'_>) -> Result<(), Refusal> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let mut errors = Vec::new();
    if kind != expected.kind {
        errors.push(FieldError::invalid("kind", &json!(kind), format!("must be {}", expected.kind)));
    }
    if api_version != expected.api_version() {
        let why = format!("must be {}", expected.api_version());
        errors.push(FieldError::invalid("apiVersion", &json!(api_version), why));
    }
    if errors.is_empty() {
        return Ok(());
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Err(Refusal::invalid(kind, group, name, &errors))
}

/// Brings a stored object into canonical form, first in its storage version, then in this one.
///
/// A field that only another version has is neither shown nor defaulted, and the defaults are from the storage version.
pub(super) fn stored(mut object: Value, custom: &Custom) -> Result<Decoded, String> {
    let stored_as = object["apiVersion"].as_str().and_then(|version| custom.other_versions.get(version));
    if let Some(structure) = stored_as {
        structure.prune(&mut object);
        structure.set_defaults(&mut object);
        drop_unknown_metadata(structure, &mut object);
    }
    value(object, custom, Malformed::Dropped)
}

/// Brings an object of a custom kind into canonical form.
pub(super) fn value(mut object: Value, custom: &Custom, malformed: Malformed) -> Result<Decoded, String> {
    let mut unknown = Vec::new();
    let Value::Object(members) = &mut object else {
        return Err("it is not an object".to_owned());
    };
    if let Some(metadata) = members.remove("metadata") {
        let normal = match normal_metadata(&metadata, malformed, &Path::root(), &mut unknown) {
            Err(problem) if malformed == Malformed::Refused || !metadata.is_object() => return Err(problem),
            normal => normal.unwrap_or_default(),
        };
        let metadata = with_reset_owners(normal, &metadata);
        members.insert("metadata", Value::Object(metadata));
    }
    unknown.extend(custom.structural_schema.prune(&mut object));
    let mut embedded = Vec::new();
    normalize_embedded(&custom.structural_schema, &mut object, malformed, &Path::root(), &mut embedded)?;
    embedded.sort();
    unknown.extend(embedded);
    if let Value::Object(members) = &object {
        depth::check(members)?;
    }
    let mut findings = Vec::new();
    for path in unknown {
        Finding::Unknown(path).note(&mut findings);
    }
    Ok(Decoded { object, findings })
}

/// Drops unknown metadata of embedded resources, which defaults may have set.
pub fn drop_unknown_metadata(structure: &StructuralSchema, object: &mut Value) {
    // Malformed metadata is dropped, so there is no error.
    let _ = normalize_embedded(structure, object, Malformed::Dropped, &Path::root(), &mut Vec::new());
}

fn kind_is_missing(body: &str) -> String {
    format!("Object 'Kind' is missing in '{body}'")
}

/// Brings kind, version and metadata of every embedded resource into canonical form.
fn normalize_embedded(
    structure: &StructuralSchema,
    value: &mut Value,
    malformed: Malformed,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if !structure.has_embedded {
        return Ok(());
    }
    match value {
        Value::Object(members) => {
            if structure.embedded {
                normalize_one(structure, members, malformed, at, unknown)?;
            }
            for (name, member) in members {
                let (declared, at) = match (structure.properties.get(name.as_str()), &structure.values) {
                    (Some(declared), _) => (declared, at.child(name)),
                    (None, AdditionalProperties::Schema(declared)) => (&**declared, at.key(name)),
                    (None, AdditionalProperties::None | AdditionalProperties::Any) => continue,
                };
                normalize_embedded(declared, member, malformed, &at, unknown)?;
            }
        }
        Value::Array(elements) => {
            let Some(items) = &structure.items else { return Ok(()) };
            for (index, element) in elements.iter_mut().enumerate() {
                normalize_embedded(items, element, malformed, &at.index(index), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Brings kind, version and metadata of one embedded resource into canonical form.
fn normalize_one(
    structure: &StructuralSchema,
    members: &mut Map,
    malformed: Malformed,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    // A `null` that is not allowed is removed when defaults are set.
    members.retain(|name, member| {
        let declared = structure.properties.get(name.as_str());
        !member.is_null() || declared.is_none_or(|declared| declared.nullable || declared.default.is_some())
    });
    for name in ["apiVersion", "kind"] {
        if let Some(other) = members.get(name).filter(|member| !member.is_string()) {
            if malformed == Malformed::Refused {
                return Err(
                    FieldError::invalid(at.child(name).to_string(), other, "must be a string").to_string()
                );
            }
            members.remove(name);
        }
    }
    let Some(metadata) = members.get_mut("metadata") else { return Ok(()) };
    match normal_metadata(metadata, malformed, at, unknown) {
        Ok(mut normal) => {
            normal.retain(|name, member| name != "creationTimestamp" || !member.is_null());
            *metadata = Value::Object(normal);
            Ok(())
        }
        Err(_) if malformed == Malformed::Dropped => Ok(()),
        Err(problem) => {
            Err(FieldError::invalid(at.child("metadata").to_string(), metadata, problem).to_string())
        }
    }
}

/// Keeps an empty `managedFields` that was sent, which resets ownership.
fn with_reset_owners(mut normal: Map, sent: &Value) -> Map {
    let record = "managedFields";
    if sent[record].as_array().is_some_and(Vec::is_empty) {
        normal.insert(record.to_owned(), json!([]));
    }
    normal
}

/// Decodes metadata as for any object; `at` is the path of the object.
fn normal_metadata(
    metadata: &Value,
    malformed: Malformed,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<Map, String> {
    let Some(message) = schema().find("meta/v1.ObjectMeta") else { return Err("no metadata".to_owned()) };
    let normal = match metadata {
        Value::Object(_) | Value::Null => walk::object(&mut Tree::from(metadata.clone()), message),
        other => {
            let noun = json_word(other);
            return Err(format!("json: cannot unmarshal {noun} into Go value of type v1.ObjectMeta"));
        }
    };
    let (members, findings) = match (normal, metadata) {
        (Err(_), Value::Object(members)) if malformed == Malformed::Dropped => {
            let is_one = |name: &str, member: &Value| {
                walk::object(&mut Tree::from(json!({name: member})), message).is_ok()
            };
            let kept = members.iter().filter(|(name, member)| is_one(name, member));
            let kept: Map = kept.map(|(name, member)| (name.clone(), member.clone())).collect();
            walk::object(&mut Tree::from(Value::Object(kept)), message)?
        }
        (normal, _) => normal?,
    };
    let written = empties::without_empties(Form::Written, message, members);
    let at = at.child("metadata");
    unknown.extend(findings.iter().filter_map(|finding| match finding {
        Finding::Unknown(path) => Some(format!("{at}.{path}")),
        Finding::Duplicate(_) | Finding::Yaml(_) | Finding::Operation(_) => None,
    }));
    Ok(written)
}
