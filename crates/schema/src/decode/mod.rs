//! Decodes the body of a request to an object in canonical form.
//!
//! ```text
//! JSON ─┐
//! YAML ─┴─► tree (as written) ─► walk along the schema ─┐
//! protobuf ─────────► messages by field number ─────────┴─► complete ─► object
//! ```
//!
//! The canonical form equals the output of Kubernetes for the same input before defaulting: without unknown fields,
//! with empty fields omitted or written depending on the schema, quantities, times and bytes in their canonical
//! representation. Problems that are no errors are [`Finding`]s, in the order of the document.
//!
//! Not here: defaults, validation, and which formats a request may have.

pub(crate) mod complete;
pub mod custom;
mod depth;
pub(crate) mod field_annotations;
pub(crate) mod go_types;
mod json;
mod key_order;
mod kind;
mod protobuf;
mod time;
mod tree;
mod type_mismatch;
mod walk;
mod yaml;
mod yaml_errors;

pub use complete::{complete_root, zero};
pub use depth::TOO_DEEP;
pub use field_annotations::UNREADABLE;
use gantry_formats::base64;
pub use key_order::KeyOrder;
pub use kind::Gvk;
pub use type_mismatch::{type_mismatch, typed, wrap_int32};

use std::fmt;

use gantry_json::{Map, SmolStr, Value};

use crate::kinds::Nature;
use crate::schema::MessageId;
use custom::Malformed;
use gantry_primitives::Refusal;
use gantry_primitives::refusal::quoted;
use tree::{Document, Tree};

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `application/json`.
    Json,
    /// `application/yaml`, and patches of server-side apply.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`.
    Protobuf,
}

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The object in canonical form, with kind and version.
    pub object: Value,
    /// The findings of strict decoding.
    pub findings: Vec<Finding>,
}

/// A problem in a body that is ignored, or an error in strict decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// An unknown field.
    Unknown(String),
    /// A duplicate field or key; the last one is used.
    Duplicate(String),
    /// A message of the YAML parser; may have several lines.
    Yaml(String),
    /// A problem in an operation of a JSON patch.
    Operation(Box<Finding>),
}

/// The most findings that are reported.
const MOST_FINDINGS: usize = 100;
/// The size of paths after which no more findings are kept: many fields below a long key would take much memory.
const FINDINGS_BYTES_MAX: usize = 4 << 20;
/// The scheme that Kubernetes names in errors about unknown kinds.
const SCHEME: &str = "pkg/api/legacyscheme/scheme.go:30";

/// Decodes the body of a request for objects of a kind.
pub fn object(body: &[u8], format: Format, expected: Gvk<'_>) -> Result<Decoded, Refusal> {
    object_or_former(body, format, expected, &[])
}

/// The same for a kind that is still accepted in former versions with the same fields, such as `policy/v1beta1`.
pub fn object_or_former(
    body: &[u8],
    format: Format,
    expected: Gvk<'_>,
    former: &[&str],
) -> Result<Decoded, Refusal> {
    let unrecognized = |problem: String| unrecognized(expected.kind, &problem, body);
    let (head, content) = read(body, format).map_err(unrecognized)?;
    let gvk = head.gvk(expected).map_err(unrecognized)?;
    let is_former = gvk.kind == expected.kind && former.contains(&gvk.api_version().as_str());
    let gvk = if is_former { expected } else { gvk };
    let Gvk { kind, version, .. } = gvk;
    let refused = |problem: String| {
        let wanted = expected.kind;
        Refusal::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {wanted}: {problem}"
        ))
    };
    if !gvk.is_known() {
        return Err(refused(unregistered(gvk)));
    }
    let other_version = gvk != expected && gvk.is_a_version_of(&expected);
    // A kind without a schema, such as a list, has no unknown fields.
    let shape = gvk.message().or_else(|| expected.message().filter(|_| other_version));
    let id = shape.ok_or_else(|| refused(unconvertible(gvk, expected)))?;
    let (mut members, findings) = content.object(id).map_err(refused)?;
    depth::check(&members).map_err(refused)?;
    field_annotations::normalize(id, &mut members).map_err(refused)?;
    if other_version {
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            gvk.api_version(),
            expected.api_version()
        )));
    }
    if gvk != expected {
        return Err(refused(unconvertible(gvk, expected)));
    }
    members.insert("kind", Value::from(kind));
    members.insert("apiVersion", Value::from(gvk.api_version()));
    Ok(Decoded { object: Value::Object(members), findings })
}

/// Decodes the body of a delete request. `group` and `version` belong to the deleted resource.
pub fn delete_options(body: &[u8], format: Format, group: &str, version: &str) -> Result<Value, Refusal> {
    let default = Gvk::new(group, version, "DeleteOptions");
    let (head, content) = read(body, format).map_err(Refusal::bad_request)?;
    let gvk = head.gvk(default).map_err(Refusal::bad_request)?;
    // Groups of definitions have the same options as others.
    let is_own = gvk == default;
    if !is_own && !gvk.is_known() {
        return Err(Refusal::bad_request(unregistered(gvk)));
    }
    let known = if is_own { Gvk::new("meta.k8s.io", "v1", gvk.kind) } else { gvk };
    let id = known.message().filter(|_| gvk.kind == default.kind);
    let id = id.ok_or_else(|| Refusal::bad_request("decoded object cannot be converted to DeleteOptions"))?;
    let (members, _) = content.object(id).map_err(Refusal::bad_request)?;
    Ok(Value::Object(members))
}

/// Brings a stored object into canonical form; it may have been written by another server or before its definition
/// changed.
///
/// Kind and version are kept. The error is the one of Go's decoder.
pub fn value(object: Value, nature: &Nature) -> Result<Decoded, String> {
    match nature {
        Nature::BuiltIn(id) => compiled_in(object, *id),
        Nature::Custom(custom) => custom::stored(object, custom),
    }
}

/// The same for a computed object, such as a patched one, in which everything must be valid.
pub fn assembled(object: Value, nature: &Nature) -> Result<Decoded, String> {
    match nature {
        Nature::BuiltIn(id) => compiled_in(object, *id),
        Nature::Custom(custom) => custom::value(object, custom, Malformed::Refused),
    }
}

/// Removes the members of a patched object that are unchanged clones of stored ones: they need not be decoded again.
///
/// All members of a custom kind are kept: its definition may have changed.
pub fn take_unchanged(object: &mut Value, stored: &Value, nature: &Nature) -> Vec<(SmolStr, Value)> {
    let (Value::Object(members), Nature::BuiltIn(_)) = (object, nature) else { return Vec::new() };
    let mut unchanged = Vec::new();
    for (name, value) in members.iter() {
        if value.is_clone_of(&stored[name]) {
            unchanged.push((name.clone(), value.clone()));
        }
    }
    for (name, _) in &unchanged {
        members.remove(name);
    }
    unchanged
}

/// As [`assembled`], for a patched object: unchanged clones of stored members are not decoded again.
pub fn patched(object: Value, stored: &Value, nature: &Nature) -> Result<Decoded, String> {
    match nature {
        Nature::BuiltIn(id) => {
            let kept = type_members(&object);
            walked(Tree::of_patched(object, stored), *id, kept)
        }
        Nature::Custom(custom) => custom::value(object, custom, Malformed::Refused),
    }
}

fn compiled_in(object: Value, id: MessageId) -> Result<Decoded, String> {
    let kept = type_members(&object);
    walked(Tree::from(object), id, kept)
}

/// Kind and version of an object.
fn type_members(object: &Value) -> Vec<(&'static str, Value)> {
    ["kind", "apiVersion"]
        .into_iter()
        .filter_map(|key| Some((key, object.get(key)?.clone())))
        .filter(|(_, value)| value.is_string())
        .collect()
}

fn walked(mut tree: Tree, id: MessageId, kept: Vec<(&'static str, Value)>) -> Result<Decoded, String> {
    let (mut members, findings) = walk::object(&mut tree, id)?;
    depth::check(&members)?;
    field_annotations::normalize(id, &mut members)?;
    members.extend(kept);
    Ok(Decoded { object: Value::Object(members), findings })
}

/// The error in an annotation that is a field inside Kubernetes.
pub fn unreadable_annotation(object: &Value, nature: &Nature) -> Option<String> {
    let mut members = object.as_object()?.clone();
    field_annotations::normalize(nature.message()?, &mut members).err()
}

/// Checks that a computed object still has its kind; the error says which kind it has.
///
/// An object of a custom kind needs only some kind; [`custom::check_type`] checks which one.
pub fn check_kind(object: &Value, expected: Gvk<'_>, nature: &Nature) -> Result<(), String> {
    if matches!(nature, Nature::Custom(_)) {
        return custom::check_kind(object);
    }
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let head = Head { api_version: text("apiVersion"), kind: text("kind") };
    let gvk = head.gvk(expected)?;
    if gvk == expected {
        Ok(())
    } else if head.api_version.is_empty() && !gvk.is_known() {
        Err(format!(
            "no kind \"{}\" is registered for the internal version of group \"{}\" in scheme \"{SCHEME}\"",
            gvk.kind, gvk.group
        ))
    } else if gvk.is_known() {
        Err(unconvertible(gvk, expected))
    } else {
        Err(unregistered(gvk))
    }
}

/// The unknown members of an object that was assembled from parts; `None` if it names a version.
///
/// Kubernetes reads it as its own internal version, whose fields have other names than in any served version.
pub fn members_without_version(object: &Value, nature: &Nature) -> Option<Vec<Finding>> {
    nature.message()?;
    let names_version = |version: &Value| version.as_str().is_some_and(|version| !version.is_empty());
    if object.get("apiVersion").is_some_and(names_version) {
        return None;
    }
    let members = object.as_object()?.keys().filter(|key| !matches!(key.as_str(), "kind" | "apiVersion"));
    Some(members.map(|key| Finding::Unknown(key.to_string())).collect())
}

/// Decodes a body without a schema, such as a patch; the error is that of the parser.
///
/// Findings are duplicate members, with their paths in the body.
pub fn plain(body: &[u8], format: Format) -> Result<(Value, Vec<Finding>), String> {
    let (mut document, mut findings) = match format {
        Format::Json => (json::read(body)?, Vec::new()),
        Format::Yaml => yaml::read(body)?,
        Format::Protobuf => return Err("protobuf is not supported here".to_owned()),
    };
    if !document.root.is_within(depth::DEEPEST) {
        return Err(TOO_DEEP.to_owned());
    }
    if document.root.has_duplicates() {
        document.root.duplicates(&mut String::new(), &mut findings);
    }
    Ok((document.root.take_value(), findings))
}

impl Decoded {
    /// The object, or the error of strict decoding if there are findings.
    pub fn strict(self, expected: Gvk<'_>) -> Result<Value, Refusal> {
        let Gvk { kind, version, .. } = expected;
        match strict_problem(&self.findings) {
            None => Ok(self.object),
            Some(problem) => Err(Refusal::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {kind}: {problem}"
            ))),
        }
    }
}

/// The error of strict decoding; `None` without findings.
pub fn strict_problem(findings: &[Finding]) -> Option<String> {
    let messages: Vec<_> = findings.iter().map(ToString::to_string).collect();
    (!messages.is_empty()).then(|| format!("strict decoding error: {}", messages.join(", ")))
}

/// The kind and version in a body.
struct Head {
    api_version: String,
    kind: String,
}

/// The name of a value's type in errors of Go's decoder.
pub fn json_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A number as Go prints it: integers without a fraction.
fn float(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole, and so small that it has an integer"
        )]
        return Value::from(number as i64);
    }
    Value::from(number)
}

/// A body of which only kind and version are decoded.
enum Content {
    Document(Document, Vec<Finding>),
    Protobuf(Vec<u8>),
}

fn read(body: &[u8], format: Format) -> Result<(Head, Content), String> {
    let (document, findings) = match format {
        Format::Protobuf => {
            let protobuf::Envelope { api_version, kind, raw } = protobuf::open(body)?;
            return Ok((Head { api_version, kind }, Content::Protobuf(raw)));
        }
        Format::Json => (json::read(body).map_err(|problem| no_kind(&problem))?, Vec::new()),
        Format::Yaml => yaml::read(body)?,
    };
    if !matches!(document.root, Tree::Object(_) | Tree::Null) {
        let noun = document.root.noun();
        return Err(no_kind(&format!(
            "json: cannot unmarshal {noun} into Go value of type struct {TYPE_META}"
        )));
    }
    let text = |key: &str| match document.root.get(key) {
        None | Some(Tree::Null) => Ok(String::new()),
        Some(Tree::String(text)) => Ok(text.to_string()),
        Some(other) => {
            let noun = other.noun();
            Err(no_kind(&format!("json: cannot unmarshal {noun} into Go struct field .{key} of type string")))
        }
    };
    let head = Head { api_version: text("apiVersion")?, kind: text("kind")? };
    Ok((head, Content::Document(document, findings)))
}

impl Head {
    /// The group, version and kind; missing parts are those expected.
    fn gvk<'a>(&'a self, expected: Gvk<'a>) -> Result<Gvk<'a>, String> {
        let (group, version) = match self.api_version.split_once('/') {
            Some((_, version)) if version.contains('/') => {
                return Err(format!("unexpected GroupVersion string: {}", self.api_version));
            }
            Some((group, version)) => (group, version),
            None => ("", self.api_version.as_str()),
        };
        let kind = if self.kind.is_empty() { expected.kind } else { &self.kind };
        Ok(match (group, version) {
            ("", "") => Gvk { kind, ..expected },
            (group, "") if group == expected.group => Gvk { kind, ..expected },
            _ => Gvk { group, version, kind },
        })
    }
}

impl Content {
    fn object(self, id: MessageId) -> Result<(Map, Vec<Finding>), String> {
        match self {
            Self::Protobuf(raw) => protobuf::object(&raw, id).map(|members| (members, Vec::new())),
            Self::Document(mut document, mut findings) => {
                let (members, found) = walk::object(&mut document.root, id)?;
                findings.extend(found);
                Ok((members, findings))
            }
        }
    }
}

/// How Go prints the type of kind and version.
const TYPE_META: &str =
    r#"{ APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

fn no_kind(problem: &str) -> String {
    format!("couldn't get version/kind; json parse error: {problem}")
}

fn unregistered(gvk: Gvk<'_>) -> String {
    format!(
        "no kind \"{}\" is registered for version \"{}\" in scheme \"{SCHEME}\"",
        gvk.kind,
        gvk.api_version()
    )
}

fn unconvertible(gvk: Gvk<'_>, expected: Gvk<'_>) -> String {
    format!("converting ({}) to ({}): unknown conversion", gvk.wire_type(), expected.inner_type())
}

fn unrecognized(kind: &str, problem: &str, body: &[u8]) -> Refusal {
    let summary = summary(body);
    Refusal::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {problem} ({summary})"
    ))
}

/// The start of a body: as text if it looks like JSON, otherwise in hexadecimal.
fn summary(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let shown = &body[..body.len().min(SHOWN)];
    let text = match shown.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(shown).into_owned(),
        Some(_) => shown.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(hexadecimal).collect(),
    };
    if body.len() > SHOWN { format!("{text} ...") } else { text }
}

fn hexadecimal(four_bits: u8) -> Option<char> {
    char::from_digit(u32::from(four_bits), 16)
}

impl Finding {
    /// Adds a finding, unless it is a duplicate or there are enough.
    fn note(self, findings: &mut Vec<Self>) {
        let bytes: usize = findings.iter().map(Self::path_bytes).sum();
        if findings.len() < MOST_FINDINGS && bytes <= FINDINGS_BYTES_MAX && !findings.contains(&self) {
            findings.push(self);
        }
    }

    fn path_bytes(&self) -> usize {
        match self {
            Self::Unknown(path) | Self::Duplicate(path) | Self::Yaml(path) => path.len(),
            Self::Operation(finding) => finding.path_bytes(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(path) => write!(f, "unknown field {}", quoted(path)),
            Self::Duplicate(path) => write!(f, "duplicate field {}", quoted(path)),
            Self::Yaml(problem) => f.write_str(problem),
            Self::Operation(finding) => write!(f, "json patch {finding}"),
        }
    }
}
