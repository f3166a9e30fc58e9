//! Decodes pod templates in protobuf, by the tables of `gantry-schema`.
//!
//! A template has hundreds of fields, and all of them count. It changes only with a rollout, so this is called for new
//! templates only.

use gantry_formats::protobuf::MessageWriter;
use gantry_json::Value;
use gantry_model::{ParseError, Template, protobuf};
use gantry_schema::decode::{Format, Gvk, object};
use k8s_openapi::api::core::v1::PodTemplateSpec;

/// Decodes a template. A set without a template has an empty one.
pub(super) fn decode_template(message: &[u8]) -> Result<Template, ParseError> {
    if message.is_empty() {
        return Ok(Template::parse(PodTemplateSpec::default()));
    }
    let mut kept = MessageWriter::default();
    kept.bytes(2, message);
    let object = decode_object("v1", "PodTemplate", &kept.into_bytes())?;
    let template = object["template"].to_string();
    gantry_json::from_slice(template.as_bytes()).map(Template::parse).map_err(ParseError::malformed)
}

/// Decodes an object to the value that its JSON would be decoded to.
pub(super) fn decode_object(api_version: &str, kind: &str, message: &[u8]) -> Result<Value, ParseError> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let body = protobuf::envelope(api_version, kind, message);
    let decoded = object(&body, Format::Protobuf, Gvk::new(group, version, kind));
    decoded.map(|decoded| decoded.object).map_err(|refusal| ParseError::malformed(refusal.message))
}
