//! Creation of objects: sets the metadata that the server owns.

use gantry_json::{Value, json};

use super::{Part, metadata_mut, text};
use crate::Timestamp;
use crate::kinds::{Generation, Kind};
use crate::strategies;

/// The values that the server assigns to a new object.
#[derive(Clone, Debug)]
pub struct ServerAssignedMetadata<'a> {
    /// The uid.
    pub uid: &'a str,
    /// The creation time.
    pub now: Timestamp,
    /// The suffix of the name, if the client wants a generated one.
    pub name_suffix: &'a str,
}

/// The maximum length of the prefix of a generated name.
const GENERATED_PREFIX_MAX: usize = 58;

/// Drops metadata that only the server sets, so that no manager owns it.
pub fn drop_server_metadata(object: &mut Value) {
    let metadata = metadata_mut(object);
    for dropped in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(dropped);
    }
}

/// Drops `selfLink`, which no object has.
pub fn drop_self_link(object: &mut Value) {
    metadata_mut(object).remove("selfLink");
}

/// Prepares a posted object for being stored.
///
/// Sets uid, creation time, generation and a generated name. Drops the status if it is a subresource, unless the kind
/// keeps it; its initial status is set later.
pub fn create(mut object: Value, kind: &Kind, assigned: &ServerAssignedMetadata<'_>) -> Value {
    drop_server_metadata(&mut object);
    let strategy = strategies::of(kind);
    (strategy.prepare)(Part::Main, None, &mut object);
    let name = text(&object, "name").unwrap_or_default();
    let generate = text(&object, "generateName").unwrap_or_default();
    let name =
        (name.is_empty() && !generate.is_empty()).then(|| generated_name(generate, assigned.name_suffix));
    let metadata = metadata_mut(&mut object);
    if let Some(name) = name {
        metadata.insert("name", json!(name));
    }
    metadata.insert("uid", json!(assigned.uid));
    metadata.insert("creationTimestamp", json!(assigned.now.to_string()));
    if !matches!(kind.generation, Generation::Absent | Generation::SpecFromZero) {
        metadata.insert("generation", json!(1));
    }
    if kind.has_status()
        && !strategy.keeps_sent_status
        && let Value::Object(whole) = &mut object
    {
        whole.remove("status");
    }
    object
}

/// Returns the prefix, truncated if necessary, with the suffix.
pub fn generated_name(generate_name: &str, suffix: &str) -> String {
    let cut = generate_name.char_indices().map(|(start, c)| start + c.len_utf8());
    let end = cut.take_while(|end| *end <= GENERATED_PREFIX_MAX).last().unwrap_or(0);
    format!("{}{suffix}", &generate_name[..end])
}
