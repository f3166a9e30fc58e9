//! Preconditions of creating an object: its namespace and the definition of its kind exist and are not terminating.
//!
//! The transaction that stores the object requires both to be unchanged, so a controller that empties a terminating
//! namespace, or deletes the objects of a kind, misses none.

use gantry_registry::kinds::{Kind, Nature, kinds};
use gantry_registry::{Cause, Details, Refusal};
use gantry_store::{Key, Revision, Transaction, Versioned};
use serde_json::Value;

use crate::definitions::kind_of_definitions;
use crate::handlers::resource_not_found;
use crate::objects::{ObjectRef, Objects, failed, key};
use crate::storage_codec;

/// The keys that must be unchanged when the object is stored, and their revisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preconditions(Vec<(Key, Revision)>);

/// What the bytes of everything that is being deleted contain.
const DELETION: &[u8] = b"\"deletionTimestamp\"";

/// Reads the namespace and the definition. Returns an error if one is absent or terminating.
pub(crate) async fn check(
    objects: &Objects,
    object_ref: ObjectRef<'_>,
    object: &Value,
) -> Result<Preconditions, Refusal> {
    let mut preconditions = Vec::new();
    if let (Some(namespace), Some(kind)) = (object_ref.namespace, kinds().resource("", "v1", "namespaces")) {
        let required = ObjectRef { kind, namespace: None, name: namespace };
        let found = objects.fetch(required).await?;
        if is_terminating(kind, &found)? {
            return Err(terminating_namespace(object_ref, namespace, object));
        }
        preconditions.push((key(required)?, found.revision));
    }
    if let Nature::Custom(custom) = &object_ref.kind.nature {
        let definitions = objects.catalogues.definitions(objects.store.as_ref()).await;
        let (definitions, name) =
            (definitions.map_err(|error| failed(&error))?, object_ref.kind.group_resource());
        // A definition that was deleted and recreated is not the one of this kind.
        let found = definitions.find(&name).filter(|found| custom.edition.is_of(&found.object));
        let found = found.ok_or_else(resource_not_found)?;
        if found.is_deleting() {
            return Err(terminating_definition(object_ref, object));
        }
        let required = ObjectRef { kind: kind_of_definitions()?, namespace: None, name: &name };
        preconditions.push((key(required)?, found.revision()));
    }
    Ok(Preconditions(preconditions))
}

impl Preconditions {
    /// Makes the transaction fail if one of the keys has changed.
    pub(crate) fn apply_to(&self, transaction: Transaction) -> Transaction {
        let preconditions = self.0.iter().cloned();
        preconditions.fold(transaction, |transaction, (key, seen)| transaction.provided(key, seen))
    }

    /// Whether the key is a precondition.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.0.iter().any(|(required, _)| required == key)
    }
}

/// Almost nothing is on its way out, and looking for a word is quicker than reading everything.
fn is_terminating(kind: &Kind, found: &Versioned) -> Result<bool, Refusal> {
    if !found.value.windows(DELETION.len()).any(|part| part == DELETION) {
        return Ok(false);
    }
    let found = storage_codec::decode(kind, &found.value, found.revision)?;
    Ok(!found["metadata"]["deletionTimestamp"].is_null())
}

fn terminating_namespace(object_ref: ObjectRef<'_>, namespace: &str, object: &Value) -> Refusal {
    let text = |field: &str| object["metadata"][field].as_str().filter(|text| !text.is_empty());
    let name = text("name").or_else(|| text("generateName")).unwrap_or_default();
    let message = format!(
        "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being \
         terminated",
        object_ref.kind.group_resource()
    );
    let cause = Cause {
        reason: "NamespaceTerminating",
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    let details = Details { causes: vec![cause], ..ObjectRef { name, ..object_ref }.details() };
    Refusal { code: 403, reason: "Forbidden", message, details: Some(Box::new(details)) }
}

fn terminating_definition(object_ref: ObjectRef<'_>, object: &Value) -> Refusal {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let named = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
    Refusal {
        code: 403,
        reason: "Forbidden",
        message: format!(
            "{}{named} is forbidden: create not allowed while custom resource definition is terminating",
            object_ref.kind.group_resource()
        ),
        details: Some(Box::new(ObjectRef { name, ..object_ref }.details())),
    }
}
