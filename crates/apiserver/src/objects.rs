//! Objects in the store: `/registry/<resource>/<namespace>/<name>`, as a kube-apiserver keeps them, in JSON.
//!
//! An object's version is the revision of its last write, so it is not part of what is stored.

use std::sync::Arc;

use bytes::Bytes;
use gantry_registry::kinds::{Kind, Scope};
use gantry_registry::{Details, Refusal};
use gantry_store::{Error, Key, Prefix, Revision, Store, Transaction, Versioned};
use serde_json::{Value, json};

/// Where all objects are.
const ROOT: &str = "/registry";

/// How often a write that meets others is decided on anew.
const ATTEMPTS_MAX: usize = 64;

/// The objects in a store.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn Store>,
}

/// One object's place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
}

/// What is to become of an object.
pub(crate) enum Change {
    /// It stays as it is.
    Keep,
    /// It becomes this.
    Store(Value),
    /// It goes. What is written before, if anything, is for watchers to see.
    Remove(Option<Value>),
}

/// What became of an object.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It is as it was.
    Kept(Value),
    /// It is now this.
    Stored(Value),
    /// It is gone, and was this; its version is that of the deletion.
    Removed(Value),
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// All keys of a kind, or of one namespace of it.
    pub(crate) fn prefix(kind: &Kind, namespace: Option<&str>) -> Prefix {
        Prefix::new(match namespace {
            Some(namespace) => format!("{ROOT}/{}/{namespace}/", kind.segment),
            None => format!("{ROOT}/{}/", kind.segment),
        })
    }

    pub(crate) async fn get(&self, place: Place<'_>) -> Result<Value, Refusal> {
        let fetched = self.store.get(&key(place)?).await.map_err(|error| failed(&error))?;
        fetched.found.map_or_else(|| Err(not_found(place)), |found| decode(&found))
    }

    /// Stores a new object and returns it with its version.
    pub(crate) async fn create(&self, place: Place<'_>, object: &Value) -> Result<Value, Refusal> {
        let transaction = Transaction::create(key(place)?, bytes(object));
        match self.store.commit(transaction).await {
            Ok(revision) => Ok(versioned(object.clone(), revision)),
            Err(Error::Conflict { current, .. }) => Err(already_exists(place, current.as_ref())),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Changes an object that exists. Whoever comes in between makes the change be decided on anew.
    pub(crate) async fn change(
        &self,
        place: Place<'_>,
        mut decide: impl FnMut(&Value) -> Result<Change, Refusal>,
    ) -> Result<Outcome, Refusal> {
        let key = key(place)?;
        let fetched = self.store.get(&key).await.map_err(|error| failed(&error))?;
        let mut current = fetched.found;
        for _ in 0..ATTEMPTS_MAX {
            let found = current.take().ok_or_else(|| not_found(place))?;
            let object = decode(&found)?;
            match self.attempt(&key, found.revision, &object, decide(&object)?).await {
                Ok(outcome) => return Ok(outcome),
                Err(Error::Conflict { current: other, .. }) => current = other,
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(conflict(place))
    }

    async fn attempt(
        &self,
        key: &Key,
        seen: Revision,
        object: &Value,
        change: Change,
    ) -> Result<Outcome, Error> {
        match change {
            Change::Keep => Ok(Outcome::Kept(object.clone())),
            Change::Store(object) => {
                let transaction = Transaction::update(key.clone(), bytes(&object), seen);
                let revision = self.store.commit(transaction).await?;
                Ok(Outcome::Stored(versioned(object, revision)))
            }
            Change::Remove(before) => {
                let (last, seen) = match before {
                    None => (object.clone(), seen),
                    Some(before) => {
                        let transaction = Transaction::update(key.clone(), bytes(&before), seen);
                        let revision = self.store.commit(transaction).await?;
                        (before, revision)
                    }
                };
                let revision = self.store.commit(Transaction::delete(key.clone(), seen)).await?;
                Ok(Outcome::Removed(versioned(last, revision)))
            }
        }
    }
}

/// The object of a stored value, with its version.
pub(crate) fn decode(found: &Versioned) -> Result<Value, Refusal> {
    parse(&found.value, found.revision)
}

pub(crate) fn parse(value: &Bytes, revision: Revision) -> Result<Value, Refusal> {
    let object = serde_json::from_slice(value)
        .map_err(|error| Refusal::server_error(format!("a stored object cannot be read: {error}")))?;
    Ok(versioned(object, revision))
}

/// Gives an object the version of its last write.
pub(crate) fn versioned(mut object: Value, revision: Revision) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), json!(revision.get().to_string()));
    }
    object
}

/// What is stored of an object: everything but its version.
pub(crate) fn bytes(object: &Value) -> Vec<u8> {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    serde_json::to_vec(&object).unwrap_or_default()
}

fn key(place: Place<'_>) -> Result<Key, Refusal> {
    let Place { kind, namespace, name } = place;
    let path = match (kind.scope, namespace) {
        (Scope::Namespaced, Some(namespace)) => format!("{ROOT}/{}/{namespace}/{name}", kind.segment),
        _ => format!("{ROOT}/{}/{name}", kind.segment),
    };
    Key::new(path).map_err(|_| Refusal::bad_request("the name of the object is too long"))
}

impl Place<'_> {
    /// What a refusal about the object says of it.
    pub(crate) fn details(self) -> Details {
        Details {
            name: self.name.to_owned(),
            group: self.kind.group.to_owned(),
            kind: self.kind.resource.to_owned(),
            ..Details::default()
        }
    }
}

pub(crate) fn not_found(place: Place<'_>) -> Refusal {
    let message = format!("{} \"{}\" not found", place.kind.group_resource(), place.name);
    Refusal { code: 404, reason: "NotFound", message, details: Some(Box::new(place.details())) }
}

fn already_exists(place: Place<'_>, current: Option<&Versioned>) -> Refusal {
    let is_deleting = |found: &Versioned| {
        decode(found).is_ok_and(|object| object["metadata"]["deletionTimestamp"].is_string())
    };
    let prefix = if current.is_some_and(is_deleting) { "object is being deleted: " } else { "" };
    let message = format!("{prefix}{} \"{}\" already exists", place.kind.group_resource(), place.name);
    Refusal { code: 409, reason: "AlreadyExists", message, details: Some(Box::new(place.details())) }
}

pub(crate) fn conflict(place: Place<'_>) -> Refusal {
    let message = format!(
        "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest \
         version and try again",
        place.kind.group_resource(),
        place.name
    );
    Refusal { code: 409, reason: "Conflict", message, details: Some(Box::new(place.details())) }
}

/// What is said when the store itself cannot.
pub(crate) fn failed(error: &Error) -> Refusal {
    Refusal {
        code: 500,
        reason: "InternalError",
        message: format!("Internal error occurred: {error}"),
        details: Some(Box::new(Details {
            causes: vec![gantry_registry::Cause {
                reason: "",
                message: error.to_string(),
                field: String::new(),
            }],
            ..Details::default()
        })),
    }
}
