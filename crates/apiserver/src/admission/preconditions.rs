//! Preconditions of creating an object: its namespace and the definition of its kind exist and are not terminating.
//!
//! The transaction that stores the object requires both to be unchanged, so a controller that empties a terminating
//! namespace, or deletes the objects of a kind, finds all of them.

use gantry_json::Value;
use gantry_schema::kinds::{Nature, kinds};
use gantry_store::{Key, Revision, Transaction};

use crate::definitions::kind_of_definitions;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::{ObjectRef, Objects, key};
use crate::storage_codec;

/// The keys that must be unchanged when the object is stored, and their revisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preconditions(Vec<(Key, Revision)>);

/// Reads the namespace and the definition. Returns an error if one is absent or terminating.
pub(crate) async fn check(
    objects: &Objects,
    object_ref: ObjectRef<'_>,
    object: &Value,
) -> Result<Preconditions, ApiError> {
    let mut preconditions = Vec::new();
    if let (Some(namespace), Some(kind)) = (object_ref.namespace, kinds().resource("", "v1", "namespaces")) {
        let required = ObjectRef { kind, namespace: None, name: namespace };
        let found = objects.fetch(required).await?;
        if storage_codec::is_deleting(kind, &found.value, found.revision)? {
            let object = ObjectRef { name: Metadata::of(object).name_or_prefix(), ..object_ref }.into();
            return Err(ApiError::NamespaceTerminating { object, namespace: namespace.to_owned() });
        }
        preconditions.push((key(required)?, found.revision));
    }
    if let Nature::Custom(custom) = &object_ref.kind.nature {
        let definitions = objects.catalogues.definitions(objects.store.as_ref()).await;
        let (definitions, name) = (definitions?, object_ref.kind.group_resource());
        // A definition that was deleted and recreated is not the one of this kind.
        let found = definitions.find(&name).filter(|found| custom.edition.is_of(&found.object));
        let found = found.ok_or(ApiError::ResourceNotFound)?;
        if found.is_deleting() {
            let name = Metadata::of(object).name();
            let why = "create not allowed while custom resource definition is terminating";
            return Err(ApiError::forbidden(ObjectRef { name, ..object_ref }, why));
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
