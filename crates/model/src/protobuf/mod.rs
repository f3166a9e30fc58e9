//! Objects in protobuf, which API servers send and parse in a fraction of the time that JSON takes.
//!
//! Only the fields that the rules need are decoded, into the types that JSON is decoded to; all others are skipped. An
//! update changes only its own fields in the message as it was read.

/// Decodes the fields of a message, by their numbers, into a struct that is returned; fields of other numbers are skipped.
macro_rules! decode {
    ($value:ident, $($decoded:ident: $type:ty),+, { $($arms:tt)* }) => {{
        $(let mut $decoded = <$type>::default();)+
        for field in gantry_formats::protobuf::fields($value.bytes()) {
            let field = field?;
            let $value = field.value;
            match field.number {
                $($arms)*
                _ => {}
            }
        }
        Ok(($($decoded),+))
    }};
}

mod pod;
mod workload;

pub use workload::{DecodeTemplate, template_of, without_managed_fields};

use std::collections::BTreeMap;

use gantry_formats::protobuf::{FieldValue, MalformedMessage, MessageWriter, fields, find};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement, Time};
use k8s_openapi::jiff;

use crate::{Identity, Meta, ObjectMetadata, OwnerReference, ParseError, ResourceVersion, Timestamp};

/// The prefix of every body.
const MAGIC: &[u8] = b"k8s\0";
/// The numbers of the fields that all objects have.
const METADATA: u32 = 1;
const SPEC: u32 = 2;
const STATUS: u32 = 3;
const RESOURCE_VERSION: u32 = 6;
const ANNOTATIONS: u32 = 12;
const MANAGED_FIELDS: u32 = 17;

/// Returns the message in the body of a response.
pub fn open(body: &[u8]) -> Result<&[u8], ParseError> {
    let envelope =
        body.strip_prefix(MAGIC).ok_or_else(|| ParseError::malformed("a body without its prefix"))?;
    Ok(find(envelope, 2)?.bytes())
}

/// Returns the body of a request with this message.
pub fn envelope(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut envelope = MessageWriter::default();
    envelope.message(1, |type_meta| {
        type_meta.text(1, api_version);
        type_meta.text(2, kind);
    });
    envelope.bytes(2, message);
    [MAGIC, &envelope.into_bytes()].concat()
}

/// Returns the resource version of an object.
pub fn version_of(message: &[u8]) -> Result<ResourceVersion, ParseError> {
    Ok(text_of(message, RESOURCE_VERSION)?.into())
}

/// Returns the name of an object; empty if it has none.
pub fn name_of(message: &[u8]) -> Result<String, ParseError> {
    text_of(message, 1)
}

/// Returns the namespace of an object; empty if it has none.
pub fn namespace_of(message: &[u8]) -> Result<String, ParseError> {
    text_of(message, 3)
}

/// Returns the annotation of this key.
pub fn annotation_of(message: &[u8], key: &str) -> Result<Option<String>, ParseError> {
    for field in fields(find(message, METADATA)?.bytes()) {
        let field = field?;
        if field.number == ANNOTATIONS {
            let (found, value) = map_entry(field.value)?;
            if found == key {
                return Ok(Some(value));
            }
        }
    }
    Ok(None)
}

fn text_of(message: &[u8], number: u32) -> Result<String, ParseError> {
    Ok(find(find(message, METADATA)?.bytes(), number)?.text())
}

impl Meta {
    /// Parses the metadata of an object in protobuf.
    pub(crate) fn parse_protobuf(metadata: &[u8]) -> Result<Self, ParseError> {
        let (mut namespace, mut name, mut uid) = (&[][..], &[][..], &[][..]);
        let (mut version, mut generation) = (&[][..], 0);
        let (mut labels, mut annotations) = (BTreeMap::new(), BTreeMap::new());
        let (mut created, mut deleting) = (None, None);
        let (mut owners, mut finalizers) = (Vec::new(), Vec::new());
        for field in fields(metadata) {
            let field = field?;
            let value = field.value;
            match field.number {
                1 => name = value.bytes(),
                3 => namespace = value.bytes(),
                5 => uid = value.bytes(),
                RESOURCE_VERSION => version = value.bytes(),
                7 => generation = value.int64(),
                8 => created = timestamp(value)?,
                9 => deleting = timestamp(value)?,
                11 => labels.extend([map_entry(value)?]),
                ANNOTATIONS => annotations.extend([map_entry(value)?]),
                13 => owners.push(OwnerReference::parse_protobuf(value)?),
                14 => finalizers.push(value.text()),
                _ => {}
            }
        }
        Ok(Self {
            namespace: required(namespace, "metadata.namespace")?.into(),
            name: required(name, "metadata.name")?.into(),
            uid: required(uid, "metadata.uid")?.into(),
            resource_version: text(version)?.into(),
            generation,
            labels,
            annotations,
            created,
            deleting,
            owners,
            finalizers,
        })
    }
}

impl ObjectMetadata {
    /// Parses the metadata of an object of this kind in protobuf: of the object itself or of its `PartialObjectMetadata`.
    pub fn parse_protobuf(api_version: &str, kind: &str, message: &[u8]) -> Result<Self, ParseError> {
        let (mut namespace, mut name, mut uid) = (&[][..], &[][..], &[][..]);
        let (mut version, mut deleting) = (&[][..], None);
        let (mut owners, mut finalizers) = (Vec::new(), Vec::new());
        for field in fields(find(message, METADATA)?.bytes()) {
            let field = field?;
            let value = field.value;
            match field.number {
                1 => name = value.bytes(),
                3 => namespace = value.bytes(),
                5 => uid = value.bytes(),
                RESOURCE_VERSION => version = value.bytes(),
                9 => deleting = timestamp(value)?,
                13 => owners.push(OwnerReference::parse_protobuf(value)?),
                14 => finalizers.push(value.text()),
                _ => {}
            }
        }
        let identity = Identity {
            kind: kind.into(),
            api_version: api_version.into(),
            namespace: Some(text(namespace)?).filter(|text| !text.is_empty()).map(Into::into),
            name: required(name, "metadata.name")?.into(),
            uid: required(uid, "metadata.uid")?.into(),
        };
        Ok(Self { identity, owners, finalizers, deleting, resource_version: text(version)?.into() })
    }
}

impl OwnerReference {
    fn parse_protobuf(reference: FieldValue<'_>) -> Result<Self, ParseError> {
        let mut owner = Self {
            api_version: "".into(),
            kind: "".into(),
            name: "".into(),
            uid: "".into(),
            controller: false,
            block_owner_deletion: false,
        };
        for field in fields(reference.bytes()) {
            let field = field?;
            match field.number {
                1 => owner.kind = field.value.text().into(),
                3 => owner.name = text(field.value.bytes())?.into(),
                4 => owner.uid = text(field.value.bytes())?.into(),
                5 => owner.api_version = field.value.text().into(),
                6 => owner.controller = field.value.bool(),
                7 => owner.block_owner_deletion = field.value.bool(),
                _ => {}
            }
        }
        Ok(owner)
    }
}

fn text(bytes: &[u8]) -> Result<&str, ParseError> {
    std::str::from_utf8(bytes).map_err(|_| ParseError::malformed("a text that is not UTF-8"))
}

/// A text that the API server always sets.
fn required<'a>(bytes: &'a [u8], path: &'static str) -> Result<&'a str, ParseError> {
    if bytes.is_empty() { Err(ParseError::missing(path)) } else { text(bytes) }
}

/// A text that JSON omits if it is empty.
fn nonempty(value: FieldValue<'_>) -> Option<String> {
    (!value.bytes().is_empty()).then(|| value.text())
}

/// A number that JSON omits if it is zero.
fn nonzero(value: FieldValue<'_>) -> Option<i32> {
    Some(value.int32()).filter(|number| *number != 0)
}

/// A time in whole seconds; an empty message is no time.
fn timestamp(value: FieldValue<'_>) -> Result<Option<Timestamp>, ParseError> {
    let message = value.bytes();
    Ok(if message.is_empty() { None } else { Some(Timestamp::from_secs(find(message, 1)?.int64())) })
}

fn time(value: FieldValue<'_>) -> Result<Option<Time>, ParseError> {
    Ok(timestamp(value)?.map(Timestamp::render))
}

fn write_time(writer: &mut MessageWriter, number: u32, time: Option<&Time>) {
    let seconds = time.map(|Time(instant)| jiff::Timestamp::as_second(*instant));
    writer.message(number, |message| {
        if let Some(seconds) = seconds {
            message.int64(1, seconds);
            message.int32(2, 0);
        }
    });
}

fn map_entry(value: FieldValue<'_>) -> Result<(String, String), MalformedMessage> {
    let (mut key, mut text) = (String::new(), String::new());
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 => key = field.value.text(),
            2 => text = field.value.text(),
            _ => {}
        }
    }
    Ok((key, text))
}

fn label_selector(value: FieldValue<'_>) -> Result<LabelSelector, ParseError> {
    decode!(value, selector: LabelSelector, {
        1 => selector.match_labels.get_or_insert_default().extend([map_entry(value)?]),
        2 => selector.match_expressions.get_or_insert_default().push(label_requirement(value)?),
    })
}

fn label_requirement(value: FieldValue<'_>) -> Result<LabelSelectorRequirement, ParseError> {
    decode!(value, requirement: LabelSelectorRequirement, {
        1 => requirement.key = value.text(),
        2 => requirement.operator = value.text(),
        3 => requirement.values.get_or_insert_default().push(value.text()),
    })
}
