//! Bodies that are about objects of custom kinds.
//!
//! They say what they are, always. Their metadata is that of any object, and so is that of objects embedded in them;
//! the rest is cut to what their definition declares, and what had to go is found.

use serde_json::{Map, Value, json};

use super::depth::{self, TOO_DEEP};
use super::tree::{SHALLOW, Tree};
use super::{Content, Decoded, Finding, Format, Gvk, json_word, read, walk};
use crate::custom::{Custom, Holds, Structure, Values};
use crate::empties::{self, Form};
use crate::schema::schema;
use gantry_primitives::Path;
use gantry_primitives::{FieldError, Refusal};

/// What becomes of metadata that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// Whoever sends it is told.
    Refused,
    /// What is stored must be read, so what cannot be understood is left out.
    Dropped,
}

/// Reads the body of a request that is about objects of a custom kind.
pub fn object(body: &[u8], format: Format, expected: Gvk<'_>, custom: &Custom) -> Result<Decoded, Refusal> {
    let Gvk { kind, version, .. } = expected;
    let unrecognized = |problem: String| super::unrecognized(kind, &problem, body);
    let (head, content) = read(body, format).map_err(unrecognized)?;
    let said = head.gvk(expected).map_err(unrecognized)?;
    let refused = |problem: String| {
        Refusal::bad_request(format!(
            "{} in version \"{version}\" cannot be handled as a {kind}: {problem}",
            said.kind
        ))
    };
    let Content::Document(mut document, mut findings) = content else {
        return Err(refused("protobuf is no format for custom kinds".to_owned()));
    };
    if head.kind.is_empty() {
        return Err(unrecognized(kind_is_missing(&String::from_utf8_lossy(body))));
    }
    if document.depth > SHALLOW {
        return Err(refused(TOO_DEEP.to_owned()));
    }
    document.root.duplicates("", &mut findings);
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

/// Whether an object that was put together from parts still says that it is one; the error is the reader's.
pub(super) fn check_kind(object: &Value) -> Result<(), String> {
    match object["kind"].as_str() {
        None | Some("") => Err(kind_is_missing(&object.to_string())),
        Some(_) => Ok(()),
    }
}

/// An object must be of the kind and the version that it is written as.
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

/// Brings a stored object into normal form, that of the version in which it is stored before that of this one.
///
/// So a field that only another version has is neither shown nor made up, and defaults are those of the store.
pub(super) fn stored(mut object: Value, custom: &Custom) -> Result<Decoded, String> {
    let stored_as = object["apiVersion"].as_str().and_then(|version| custom.otherwise.get(version));
    if let Some(structure) = stored_as {
        structure.prune(&mut object);
        structure.fill(&mut object);
        tidy(structure, &mut object);
    }
    value(object, custom, Malformed::Dropped)
}

/// Brings an object of a custom kind into normal form.
pub(super) fn value(mut object: Value, custom: &Custom, malformed: Malformed) -> Result<Decoded, String> {
    let mut unknown = Vec::new();
    let Value::Object(members) = &mut object else {
        return Err("it is no object".to_owned());
    };
    if let Some(metadata) = members.remove("metadata") {
        let normal = match normal_metadata(&metadata, malformed, &Path::root(), &mut unknown) {
            Err(problem) if malformed == Malformed::Refused || !metadata.is_object() => return Err(problem),
            normal => normal.unwrap_or_default(),
        };
        let metadata = with_reset_owners(normal, &metadata);
        members.insert("metadata".to_owned(), Value::Object(metadata));
    }
    unknown.extend(custom.structure.prune(&mut object));
    let mut embedded = Vec::new();
    normalize_embedded(&custom.structure, &mut object, malformed, &Path::root(), &mut embedded)?;
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

/// Leaves out what defaults have brought into the metadata of embedded objects, and no metadata has.
pub fn tidy(structure: &Structure, object: &mut Value) {
    // What is malformed is left out, so nothing is refused.
    let _ = normalize_embedded(structure, object, Malformed::Dropped, &Path::root(), &mut Vec::new());
}

fn kind_is_missing(body: &str) -> String {
    format!("Object 'Kind' is missing in '{body}'")
}

/// Goes to every object embedded in one, and brings what it says of itself into normal form.
fn normalize_embedded(
    structure: &Structure,
    value: &mut Value,
    malformed: Malformed,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if structure.holds == Holds::None {
        return Ok(());
    }
    match value {
        Value::Object(members) => {
            if structure.embedded {
                normalize_one(structure, members, malformed, at, unknown)?;
            }
            for (name, member) in members {
                let (declared, at) = match (structure.properties.get(name), &structure.values) {
                    (Some(declared), _) => (declared, at.child(name)),
                    (None, Values::Like(declared)) => (&**declared, at.key(name)),
                    (None, Values::None | Values::Any) => continue,
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

/// Kind, version and metadata of an embedded object.
fn normalize_one(
    structure: &Structure,
    members: &mut Map<String, Value>,
    malformed: Malformed,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    // `null` that is as good as nothing goes when defaults come.
    members.retain(|name, member| {
        let declared = structure.properties.get(name);
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

/// Metadata in normal form with the empty record of ownership that was sent: it says that nobody owns anything.
fn with_reset_owners(mut normal: Map<String, Value>, sent: &Value) -> Map<String, Value> {
    let record = "managedFields";
    if sent[record].as_array().is_some_and(Vec::is_empty) {
        normal.insert(record.to_owned(), json!([]));
    }
    normal
}

/// Metadata as that of any other object; `at` is the object that has it.
fn normal_metadata(
    metadata: &Value,
    malformed: Malformed,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
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
            let kept: Map<_, _> = kept.map(|(name, member)| (name.clone(), member.clone())).collect();
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
