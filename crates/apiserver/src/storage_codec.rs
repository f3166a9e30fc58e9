//! Encodes objects for the store: as they are served, without the resource version.
//!
//! ```text
//! stored  {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"…",                       "labels":…
//! served  {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"…","resourceVersion":"7","labels":…
//! item    {                                     "metadata":{"name":"a","uid":"…","resourceVersion":"7","labels":…
//! ```
//!
//! A read inserts the version and parses nothing. Values that another server wrote have another layout: they are
//! decoded, defaulted and encoded on each read. So are objects of custom kinds, since their definition may have
//! changed.

use std::borrow::Cow;
use std::io::Write as _;

use bytes::Bytes;
use gantry_json::{Value, json};
use gantry_registry::{conversion, defaults, strategies};
use gantry_schema::custom::Custom;
use gantry_schema::decode::{self, Format, Gvk};
use gantry_schema::empties::{self, Form};
use gantry_schema::encode;
use gantry_schema::encode::{PreviousText, TextParts, TypeMeta};
use gantry_schema::kinds::{Kind, Nature};
use gantry_store::Revision;
use serde::Deserialize;

use crate::decoded_cache::is_cached;
use crate::error::ApiError;
use crate::metadata::Metadata;

/// The fields before the version in an object's metadata, in this order; all are strings.
const BEFORE_VERSION: [&[u8]; 5] = [b"name", b"generateName", b"namespace", b"selfLink", b"uid"];

/// The bytes before the value of an object's metadata.
const METADATA_MEMBER: &[u8] = b"\"metadata\":";

/// The positions at which stored bytes are split to insert the version.
struct SplicePoints {
    /// The start of `"metadata"`, after kind and version.
    metadata: usize,
    /// The position of the resource version.
    version: usize,
}

/// The stored bytes of an object, and the positions of its parts in them if it is kept decoded.
pub(crate) struct EncodedObject {
    pub(crate) bytes: Bytes,
    pub(crate) parts: TextParts,
}

/// Encodes an object without its version. Removes its empty lists and maps.
pub(crate) fn encode(kind: &Kind, object: &mut Value) -> Bytes {
    encode_reusing(kind, object, None).bytes
}

/// Encodes an object as [`encode`] does. Parts that it shares with the stored object that it replaces are neither
/// processed nor encoded again.
pub(crate) fn encode_reusing(
    kind: &Kind,
    object: &mut Value,
    stored: Option<PreviousText<'_>>,
) -> EncodedObject {
    match stored {
        Some(stored) => empties::drop_empties_except(Form::Stored, &kind.nature, object, stored.parts),
        None => empties::drop_empties(Form::Stored, &kind.nature, object),
    }
    let mut parts = TextParts::default();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    let mut bytes = Vec::with_capacity(2048);
    match (&kind.nature, conversion::stored_kind(kind)) {
        (Nature::Custom(custom), _) => {
            let version = std::mem::replace(&mut object["apiVersion"], json!(custom.stored_as));
            encode::object_into(object, &kind.nature, TypeMeta::Written, &mut bytes);
            object["apiVersion"] = version;
        }
        (Nature::BuiltIn(_), Some(other)) => {
            let mut object = conversion::to_storage(kind, object.clone());
            defaults::apply(other, &mut object);
            encode::object_into(&object, &other.nature, TypeMeta::Written, &mut bytes);
        }
        (Nature::BuiltIn(_), None) if is_cached(kind) => {
            parts = encode::object_with_parts(object, &kind.nature, stored, &mut bytes);
            debug_assert!(
                bytes.trim_ascii() == encode::object(object, &kind.nature).trim_ascii(),
                "the copied bytes differ from the encoding: {object}"
            );
        }
        (Nature::BuiltIn(_), None) => {
            encode::object_into(object, &kind.nature, TypeMeta::Written, &mut bytes);
        }
    }
    // Stored values are kept for long: no spare capacity.
    EncodedObject { bytes: bytes.into_boxed_slice().into(), parts }
}

/// Encodes a new object without the fields that Kubernetes adds after storing it and that defaulting adds on each read.
pub(crate) fn encode_new(kind: &Kind, object: &mut Value) -> EncodedObject {
    let Some(form) = strategies::of(kind).stored_when_new else { return encode_reusing(kind, object, None) };
    empties::drop_empties(Form::Stored, &kind.nature, object);
    let Some(mut incomplete) = form(object) else { return encode_reusing(kind, object, None) };
    let mut bytes = encode(kind, &mut incomplete).to_vec();
    // The trailing newline differs from the regular layout, so the object is defaulted when it is read.
    bytes.push(b'\n');
    EncodedObject { bytes: bytes.into_boxed_slice().into(), parts: TextParts::default() }
}

/// Whether an unchanged object is written again if its encoding differs from the stored bytes.
pub(crate) fn must_reencode(kind: &Kind) -> bool {
    matches!(kind.nature, Nature::Custom(_)) || strategies::of(kind).stored_when_new.is_some()
}

/// Decodes a stored object and sets its version.
pub(crate) fn decode(kind: &Kind, stored: &[u8], revision: Revision) -> Result<Value, ApiError> {
    let object = if splice_points(kind, stored).is_some() {
        gantry_json::from_slice(stored).map_err(|error| unreadable(&error.to_string()))?
    } else {
        decode_foreign(kind, stored)?
    };
    Ok(with_version(object, revision))
}

/// Decodes the fields for selectors by name, namespace and labels: of objects in our own layout, only the metadata is
/// parsed.
pub(crate) fn decode_labels(kind: &Kind, stored: &[u8], revision: Revision) -> Result<Value, ApiError> {
    match stored_metadata(kind, stored)? {
        Some(StoredMetadata { name, namespace, labels, .. }) => {
            Ok(json!({"metadata": {"name": name, "namespace": namespace, "labels": labels}}))
        }
        None => decode(kind, stored, revision),
    }
}

/// Decodes the fields that most deletions depend on: name, namespace and finalizers. Of objects in our own layout, only
/// the metadata is parsed.
pub(crate) fn decode_finalizers(kind: &Kind, stored: &[u8], revision: Revision) -> Result<Value, ApiError> {
    match stored_metadata(kind, stored)? {
        Some(StoredMetadata { name, namespace, finalizers, .. }) => {
            Ok(json!({"metadata": {"name": name, "namespace": namespace, "finalizers": finalizers}}))
        }
        None => decode(kind, stored, revision),
    }
}

/// Decodes the creation time of an object. Of objects in our own layout, only the metadata is parsed.
pub(crate) fn decode_creation(kind: &Kind, stored: &[u8], revision: Revision) -> Result<Value, ApiError> {
    match stored_metadata(kind, stored)? {
        Some(metadata) => Ok(json!({"metadata": {"creationTimestamp": metadata.creation_timestamp}})),
        None => decode(kind, stored, revision),
    }
}

/// Whether a stored object is being deleted; of objects in our own layout, only the metadata is parsed.
pub(crate) fn is_deleting(kind: &Kind, stored: &[u8], revision: Revision) -> Result<bool, ApiError> {
    match stored_metadata(kind, stored)? {
        Some(metadata) => Ok(metadata.deletion_timestamp.is_some()),
        None => Ok(Metadata::of(&decode(kind, stored, revision)?).deletion_timestamp().is_some()),
    }
}

/// The metadata of a stored object that is read without decoding the whole object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredMetadata<'s> {
    #[serde(borrow)]
    name: Option<Cow<'s, str>>,
    #[serde(borrow)]
    namespace: Option<Cow<'s, str>>,
    #[serde(default)]
    labels: Value,
    #[serde(borrow)]
    creation_timestamp: Option<Cow<'s, str>>,
    #[serde(borrow)]
    deletion_timestamp: Option<Cow<'s, str>>,
    #[serde(default)]
    finalizers: Value,
}

/// Parses the metadata of bytes in our own layout, and nothing after it; `None` for everything else.
fn stored_metadata<'s>(kind: &Kind, stored: &'s [u8]) -> Result<Option<StoredMetadata<'s>>, ApiError> {
    let Some(at) = splice_points(kind, stored) else { return Ok(None) };
    let start = at.metadata + METADATA_MEMBER.len();
    let mut values = serde_json::Deserializer::from_slice(&stored[start..]).into_iter();
    values.next().transpose().map_err(|error| unreadable(&error.to_string()))
}

/// Sets the resource version.
pub(crate) fn with_version(mut object: Value, revision: Revision) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion", json!(revision.get().to_string()));
    }
    object
}

/// Whether a stored object has to be decoded to write it: it is not in our own layout of this kind.
pub(crate) fn needs_decoding(kind: &Kind, stored: &[u8]) -> bool {
    splice_points(kind, stored).is_none()
}

/// Writes a stored object, as a single one or as an item of a list.
pub(crate) fn write(
    kind: &Kind,
    stored: &Bytes,
    revision: Revision,
    type_meta: TypeMeta,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let rest = write_start(kind, stored, revision, type_meta, out)?;
    out.extend_from_slice(&rest);
    Ok(())
}

/// Writes the start of an object as [`write`] does, and returns its rest. In our own layout that is a part of the stored bytes,
/// which is not copied.
pub(crate) fn write_start(
    kind: &Kind,
    stored: &Bytes,
    revision: Revision,
    type_meta: TypeMeta,
    out: &mut Vec<u8>,
) -> Result<Bytes, ApiError> {
    let Some(at) = splice_points(kind, stored) else {
        let object = with_version(decode_foreign(kind, stored)?, revision);
        let mut encoded = Vec::new();
        encode::object_into(&object, &kind.nature, type_meta, &mut encoded);
        return Ok(encoded.into());
    };
    let start = match type_meta {
        TypeMeta::Written => 0,
        TypeMeta::LeftOut => {
            out.push(b'{');
            at.metadata
        }
    };
    let after = stored.slice(at.version..);
    write_version(&stored[start..at.version], &after, revision, out);
    Ok(after)
}

fn write_version(before: &[u8], after: &[u8], revision: Revision, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    if before.last() != Some(&b'{') {
        out.push(b',');
    }
    out.extend_from_slice(b"\"resourceVersion\":\"");
    // Writing to memory does not fail.
    let _ = write!(out, "{}", revision.get());
    out.push(b'"');
    if before.last() == Some(&b'{') && after.first() != Some(&b'}') {
        out.push(b',');
    }
}

/// Returns the positions at which to split bytes in our own layout of this kind; `None` for everything else.
fn splice_points(kind: &Kind, stored: &[u8]) -> Option<SplicePoints> {
    let rest = stored.strip_prefix(b"{\"kind\":\"")?.strip_prefix(kind.kind.as_bytes())?;
    let rest = rest.strip_prefix(b"\",\"apiVersion\":\"")?;
    let rest = match kind.group {
        "" => rest,
        group => rest.strip_prefix(group.as_bytes())?.strip_prefix(b"/")?,
    };
    let rest = rest.strip_prefix(kind.version.as_bytes())?.strip_prefix(b"\",")?;
    let metadata = stored.len() - rest.len();
    let mut rest = rest.strip_prefix(METADATA_MEMBER)?.strip_prefix(b"{")?;
    // Our own layout has no whitespace after the last brace.
    if stored.last() != Some(&b'}') || is_new_of_earlier_version(kind, stored) {
        return None;
    }
    let mut version = stored.len() - rest.len();
    for name in BEFORE_VERSION {
        let Some(after) = text_member(rest, name) else { continue };
        version = stored.len() - after.len();
        match after.strip_prefix(b",") {
            Some(next) => rest = next,
            None => break,
        }
    }
    Some(SplicePoints { metadata, version })
}

/// Whether an earlier version may have stored the bytes as a new object, without marking it as incomplete.
fn is_new_of_earlier_version(kind: &Kind, stored: &[u8]) -> bool {
    stored.ends_with(b",\"status\":{}}") && strategies::of(kind).stored_when_new.is_some()
}

/// The rest after a string member of this name.
fn text_member<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = bytes.strip_prefix(b"\"")?.strip_prefix(name)?.strip_prefix(b"\":\"")?;
    let end = value.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    // Our own layout has no escapes in names.
    (value[end] == b'"').then(|| &value[end + 1..])
}

/// Decodes an object of a custom kind by its current definition.
fn decode_custom(kind: &Kind, custom: &Custom, stored: &[u8]) -> Result<Value, ApiError> {
    let mut object: Value =
        gantry_json::from_slice(stored).map_err(|error| unreadable(&error.to_string()))?;
    if !object.is_object() {
        return Err(unreadable("it is not an object"));
    }
    let stored_as = object["apiVersion"].as_str().unwrap_or_default();
    custom.check_conversion(kind.kind, stored_as, kind.api_version)?;
    let is_of_another_shape = custom.other_versions.contains_key(stored_as);
    if stored_as == kind.api_version && !custom.structural_schema.has_embedded {
        custom.structural_schema.prune(&mut object);
    } else {
        object = decode::value(object, &kind.nature).map_err(|problem| unreadable(&problem))?.object;
    }
    // An object that is stored in a version of another schema has that version's defaults.
    if !is_of_another_shape {
        defaults::apply(kind, &mut object);
    }
    object["apiVersion"] = json!(kind.api_version);
    Ok(object)
}

/// Decodes an object that is stored as another kind, or in the layout of another server.
fn decode_foreign(kind: &Kind, stored: &[u8]) -> Result<Value, ApiError> {
    if let Nature::Custom(definition) = &kind.nature {
        return decode_custom(kind, definition, stored);
    }
    match conversion::stored_kind(kind) {
        Some(other) if splice_points(other, stored).is_some() => {
            let object = gantry_json::from_slice(stored).map_err(|error| unreadable(&error.to_string()))?;
            return Ok(conversion::from_storage(kind, object));
        }
        Some(other) => return Ok(conversion::from_storage(kind, decode_foreign(other, stored)?)),
        None => {}
    }
    let of_store = conversion::stored_kind(kind).unwrap_or(kind);
    let read = if stored.starts_with(b"k8s\0") {
        let expected = Gvk::new(of_store.group, of_store.version, of_store.kind);
        decode::object(stored, Format::Protobuf, expected)?.object
    } else {
        let read: Value = gantry_json::from_slice(stored).map_err(|error| unreadable(&error.to_string()))?;
        decode::value(read, &of_store.nature).map_err(|problem| unreadable(&problem))?.object
    };
    let mut object = conversion::from_storage(kind, read);
    defaults::apply(kind, &mut object);
    empties::drop_empties(Form::Stored, &kind.nature, &mut object);
    if let Value::Object(members) = &mut object {
        members.insert("kind", json!(kind.kind));
        members.insert("apiVersion", json!(kind.api_version));
    }
    Ok(object)
}

fn unreadable(problem: &str) -> ApiError {
    ApiError::unclassified(format!("a stored object cannot be read: {problem}"))
}

#[cfg(test)]
mod tests {
    use gantry_schema::kinds::kinds;

    use super::*;

    fn maps() -> &'static Kind {
        kinds().resource("", "v1", "configmaps").unwrap()
    }

    fn seven() -> Revision {
        Revision::new(7).unwrap()
    }

    fn written(stored: &[u8]) -> (String, String) {
        let (mut object, mut item) = (Vec::new(), Vec::new());
        let stored = &Bytes::copy_from_slice(stored);
        write(maps(), stored, seven(), TypeMeta::Written, &mut object).unwrap();
        write(maps(), stored, seven(), TypeMeta::LeftOut, &mut item).unwrap();
        (String::from_utf8(object).unwrap(), String::from_utf8(item).unwrap())
    }

    /// A2.1, A2.2: the version is inserted at its position, and items have no kind.
    #[test]
    fn the_version_is_inserted_after_the_uid() {
        let mut object = json!({
            "kind": "ConfigMap", "apiVersion": "v1", "data": {"k": "\"}"},
            "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "3", "labels": {"l": ""}},
        });
        let stored = encode(maps(), &mut object);
        assert!(!stored.windows(15).any(|part| part == b"resourceVersion"), "{stored:?}");
        let (whole, item) = written(&stored);
        let metadata =
            r#""metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"l":""}}"#;
        assert_eq!(
            whole,
            format!(r#"{{"kind":"ConfigMap","apiVersion":"v1",{metadata},"data":{{"k":"\"}}"}}}}"#)
        );
        assert_eq!(item, format!(r#"{{{metadata},"data":{{"k":"\"}}"}}}}"#));
    }

    #[test]
    fn metadata_with_nothing_before_or_after_the_version_is_spliced() {
        let splice = |metadata: &str| {
            written(
                format!("{}{metadata}}}", r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":"#).as_bytes(),
            )
            .1
        };
        assert_eq!(splice("{}"), r#"{"metadata":{"resourceVersion":"7"}}"#);
        assert_eq!(
            splice(r#"{"labels":{"a":"b"}}"#),
            r#"{"metadata":{"resourceVersion":"7","labels":{"a":"b"}}}"#
        );
        assert_eq!(splice(r#"{"uid":"u"}"#), r#"{"metadata":{"uid":"u","resourceVersion":"7"}}"#);
    }

    /// A2.7: an object of another server, with other key order and empty maps, is served in our layout.
    #[test]
    fn objects_of_other_servers_are_converted_to_our_form() {
        let foreign =
            br#"{"metadata":{"uid":"u","name":"a","labels":{}}, "apiVersion":"v1","kind":"ConfigMap"}"#;
        let (whole, item) = written(foreign);
        assert_eq!(
            whole,
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#
        );
        assert_eq!(item, r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#);
        let pods = kinds().resource("", "v1", "pods").unwrap();
        let bare = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
        assert_eq!(
            decode(pods, bare, seven()).unwrap()["spec"]["restartPolicy"],
            "Always",
            "defaults are applied on reads, too"
        );
        let mut out = Vec::new();
        assert!(
            write(maps(), &Bytes::from_static(b"nonsense"), seven(), TypeMeta::Written, &mut out).is_err(),
            "malformed bytes are an error and not a panic"
        );
    }

    /// An unread list of large objects must not cost a copy of each: only the start of an item is written.
    #[test]
    fn the_rest_of_an_object_is_not_copied() {
        let mut object = json!({
            "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"k": "x".repeat(100_000)},
        });
        let stored = encode(maps(), &mut object);
        let mut start = Vec::new();
        let rest = write_start(maps(), &stored, seven(), TypeMeta::LeftOut, &mut start).unwrap();
        assert_eq!(start, br#"{"metadata":{"name":"a","resourceVersion":"7""#);
        assert_eq!(
            rest.as_ptr_range().end,
            stored.as_ptr_range().end,
            "the rest is a part of the stored bytes"
        );
    }

    /// The fields for selectors are read from the metadata; the bytes after it are not parsed.
    #[test]
    fn labels_are_read_without_the_rest() {
        let stored = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","labels":{"l":"v"}},"data":{?}}"#;
        let labels = decode_labels(maps(), stored, seven()).unwrap();
        assert_eq!(labels, json!({"metadata": {"name": "a", "namespace": "n", "labels": {"l": "v"}}}));
        assert!(!is_deleting(maps(), stored, seven()).unwrap());
        let foreign =
            br#"{"metadata":{"labels":{"l":"v"},"deletionTimestamp":"2026-01-01T00:00:00Z"},"apiVersion":"v1","kind":"ConfigMap"}"#;
        assert_eq!(decode_labels(maps(), foreign, seven()).unwrap()["metadata"]["labels"], json!({"l": "v"}));
        assert!(is_deleting(maps(), foreign, seven()).unwrap());
    }

    #[test]
    fn times_of_creation_and_deletion_are_read_from_the_metadata() {
        for (times, expected) in [
            (json!({"creationTimestamp": "2026-01-01T00:00:00Z"}), false),
            (
                json!({"creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z"}),
                true,
            ),
            (json!({"generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z"}), false),
            (json!({"generation": 2, "deletionTimestamp": "2026-01-02T00:00:00Z"}), true),
        ] {
            let mut object =
                json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "uid": "u"}});
            object["metadata"].as_object_mut().unwrap().extend(times.as_object().unwrap().clone());
            let stored = encode(maps(), &mut object);
            assert_eq!(is_deleting(maps(), &stored, seven()).unwrap(), expected, "{times}");
            let created = decode_creation(maps(), &stored, seven()).unwrap();
            assert_eq!(created["metadata"]["creationTimestamp"], times["creationTimestamp"]);
        }
    }

    /// The labels that a Job gets from its selector are stored with its first update.
    #[test]
    fn generated_labels_of_a_job_are_a_default_until_its_first_update() {
        let jobs = kinds().resource("batch", "v1", "jobs").unwrap();
        let labels = json!({"controller-uid": "u", "job-name": "j"});
        let mut job = json!({
            "kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j", "uid": "u", "labels": labels},
            "spec": {"template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
        });
        let first = encode_new(jobs, &mut job).bytes;
        let read = decode(jobs, &first, seven()).unwrap();
        assert_eq!(read["metadata"]["labels"], labels);
        assert_ne!(encode(jobs, &mut read.clone()), first, "an update without changes is written");
        assert!(must_reencode(jobs));
    }

    /// A new claim has its phase on each read until its first update, also if an earlier version stored it.
    #[test]
    fn the_phase_of_a_claim_is_a_default_until_its_first_update() {
        let claims = kinds().resource("", "v1", "persistentvolumeclaims").unwrap();
        let mut claim = json!({
            "kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "c"}, "spec": {},
            "status": {"phase": "Pending"},
        });
        let first = encode_new(claims, &mut claim).bytes;
        for stored in [&first[..], first.trim_ascii_end()] {
            assert_eq!(decode(claims, stored, seven()).unwrap()["status"]["phase"], "Pending");
            assert_ne!(encode(claims, &mut claim), stored);
        }
    }
}
