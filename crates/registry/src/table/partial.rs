//! Objects reduced to their metadata.

use gantry_json::{Value, json};

use super::{Version, write_list};
use crate::{Refusal, StatusReason};

/// Returns an object reduced to its metadata.
pub fn partial(object: &Value, version: Version) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": version.api_version(), "metadata": object["metadata"],
    })
}

/// Returns a list of objects reduced to their metadata. As on Kubernetes, the items of an empty one are null.
pub fn partial_list<'o>(
    metadata: &Value,
    objects: impl IntoIterator<Item = &'o Value>,
    version: Version,
) -> Value {
    let items: Vec<_> = objects.into_iter().map(|object| partial(object, version)).collect();
    let items = if items.is_empty() { Value::Null } else { Value::Array(items) };
    json!({
        "kind": "PartialObjectMetadataList", "apiVersion": version.api_version(), "metadata": metadata,
        "items": items,
    })
}

/// Writes a list of objects reduced to their metadata, and a newline. Objects are decoded one after another.
pub fn write_partial_list<E>(
    metadata: &Value,
    objects: impl Iterator<Item = Result<Value, E>>,
    version: Version,
) -> Result<Vec<u8>, E> {
    let items = objects.map(|object| Ok(partial(&object?, version)));
    write_list(partial_list(metadata, [], version), "items", items)
}

/// Returns the 406 for a request for a list form of one object.
pub fn not_a_list(group: &str, kind: &str) -> Refusal {
    not_acceptable(format!(
        "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
        inner_name(group, kind)
    ))
}

/// Returns the 406 for a request for an object form of a list.
pub fn is_a_list(group: &str, kind: &str) -> Refusal {
    not_acceptable(format!(
        "you requested PartialObjectMetadata, but the requested object is a list ({}List)",
        inner_name(group, kind)
    ))
}

/// Kubernetes' Go name of a kind.
fn inner_name(group: &str, kind: &str) -> String {
    let package = match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    };
    format!("*{package}.{kind}")
}

fn not_acceptable(message: String) -> Refusal {
    Refusal::new(StatusReason::NotAcceptable, message)
}
