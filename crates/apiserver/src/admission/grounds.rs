//! What a new object stands on: its namespace, and the definition of its kind.
//!
//! Both must be there, and not on their way out. That they still are when the object is stored is a condition of storing
//! it: whoever empties a namespace, or takes a kind away, has seen every object that will ever be in it.

use gantry_registry::kinds::{Kind, Nature, kinds};
use gantry_registry::{Cause, Details, Refusal};
use gantry_store::{Key, Revision, Transaction, Versioned};
use serde_json::Value;

use crate::definitions::kind_of_definitions;
use crate::handlers::no_such_resource;
use crate::objects::{Objects, Place, failed, key};
use crate::served;

/// What must not have changed when the object is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grounds(Vec<(Key, Revision)>);

/// What the bytes of everything that is being deleted contain.
const DELETION: &[u8] = b"\"deletionTimestamp\"";

/// Finds what a new object stands on, or says why it cannot.
pub(crate) async fn check(objects: &Objects, place: Place<'_>, object: &Value) -> Result<Grounds, Refusal> {
    let mut grounds = Vec::new();
    if let (Some(namespace), Some(kind)) = (place.namespace, kinds().resource("", "v1", "namespaces")) {
        let ground = Place { kind, namespace: None, name: namespace };
        let found = objects.fetch(ground).await?;
        if is_going(kind, &found)? {
            return Err(terminating_namespace(place, namespace, object));
        }
        grounds.push((key(ground)?, found.revision));
    }
    if let Nature::Custom(custom) = &place.kind.nature {
        let definitions = objects.catalogues.definitions(objects.store.as_ref()).await;
        let (definitions, name) = (definitions.map_err(|error| failed(&error))?, place.kind.group_resource());
        // Another definition of the same name is of other objects.
        let found = definitions.find(&name).filter(|found| custom.edition.is_of(&found.object));
        let found = found.ok_or_else(no_such_resource)?;
        if found.goes() {
            return Err(terminating_definition(place, object));
        }
        let ground = Place { kind: kind_of_definitions()?, namespace: None, name: &name };
        grounds.push((key(ground)?, found.revision()));
    }
    Ok(Grounds(grounds))
}

impl Grounds {
    /// The transaction, on the condition that they hold.
    pub(crate) fn under(&self, transaction: Transaction) -> Transaction {
        let grounds = self.0.iter().cloned();
        grounds.fold(transaction, |transaction, (key, seen)| transaction.provided(key, seen))
    }

    /// Whether this key is one of them.
    pub(crate) fn include(&self, key: &Key) -> bool {
        self.0.iter().any(|(ground, _)| ground == key)
    }
}

/// Almost nothing is on its way out, and looking for a word is quicker than reading everything.
fn is_going(kind: &Kind, found: &Versioned) -> Result<bool, Refusal> {
    if !found.value.windows(DELETION.len()).any(|part| part == DELETION) {
        return Ok(false);
    }
    let found = served::parse(kind, &found.value, found.revision)?;
    Ok(!found["metadata"]["deletionTimestamp"].is_null())
}

fn terminating_namespace(place: Place<'_>, namespace: &str, object: &Value) -> Refusal {
    let text = |field: &str| object["metadata"][field].as_str().filter(|text| !text.is_empty());
    let name = text("name").or_else(|| text("generateName")).unwrap_or_default();
    let message = format!(
        "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being \
         terminated",
        place.kind.group_resource()
    );
    let cause = Cause {
        reason: "NamespaceTerminating",
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    let details = Details { causes: vec![cause], ..Place { name, ..place }.details() };
    Refusal { code: 403, reason: "Forbidden", message, details: Some(Box::new(details)) }
}

fn terminating_definition(place: Place<'_>, object: &Value) -> Refusal {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let named = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
    Refusal {
        code: 403,
        reason: "Forbidden",
        message: format!(
            "{}{named} is forbidden: create not allowed while custom resource definition is terminating",
            place.kind.group_resource()
        ),
        details: Some(Box::new(Place { name, ..place }.details())),
    }
}
