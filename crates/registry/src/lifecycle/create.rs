//! A new object: what clients may not choose is chosen for them.

use serde_json::{Value, json};

use super::{Part, metadata_mut, text};
use crate::Timestamp;
use crate::kinds::{Generation, Kind};
use crate::strategies;

/// What the server gives to a new object.
#[derive(Clone, Debug)]
pub struct Stamp<'a> {
    /// Its identity.
    pub uid: &'a str,
    /// When it was created.
    pub now: Timestamp,
    /// The end of its name, if the client asked for one to be made.
    pub name_suffix: &'a str,
}

/// The longest beginning of a generated name.
const GENERATED_PREFIX_MAX: usize = 58;

/// Drops from an object that was posted what is the server's to say, so that nobody owns it.
pub fn disown(object: &mut Value) {
    let metadata = metadata_mut(object);
    for dropped in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(dropped);
    }
}

/// Drops the link to itself that a client wrote into an object: no object has one.
pub fn forget_link(object: &mut Value) {
    metadata_mut(object).remove("selfLink");
}

/// Makes an object that was posted one that can be stored.
///
/// What only the server knows is set, whatever the client wrote; a status that only `/status` may write is dropped, and
/// its first content is the kind's own business. Only Nodes bring theirs.
pub fn create(mut object: Value, kind: &Kind, stamp: &Stamp<'_>) -> Value {
    disown(&mut object);
    let strategy = strategies::of(kind);
    (strategy.prepare)(Part::Main, None, &mut object);
    let name = text(&object, "name").unwrap_or_default();
    let generate = text(&object, "generateName").unwrap_or_default();
    let name = (name.is_empty() && !generate.is_empty()).then(|| generated_name(generate, stamp.name_suffix));
    let metadata = metadata_mut(&mut object);
    if let Some(name) = name {
        metadata.insert("name".to_owned(), json!(name));
    }
    metadata.insert("uid".to_owned(), json!(stamp.uid));
    metadata.insert("creationTimestamp".to_owned(), json!(stamp.now.to_string()));
    if !matches!(kind.generation, Generation::Absent | Generation::SpecFromZero) {
        metadata.insert("generation".to_owned(), json!(1));
    }
    if kind.has_status()
        && !strategy.keeps_sent_status
        && let Value::Object(whole) = &mut object
    {
        whole.remove("status");
    }
    object
}

/// The name that is made of a beginning and a random end.
pub fn generated_name(generate_name: &str, suffix: &str) -> String {
    let cut = generate_name.char_indices().map(|(start, c)| start + c.len_utf8());
    let end = cut.take_while(|end| *end <= GENERATED_PREFIX_MAX).last().unwrap_or(0);
    format!("{}{suffix}", &generate_name[..end])
}
