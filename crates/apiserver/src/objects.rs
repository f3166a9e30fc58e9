//! Objects in the store: `/registry/<resource>/<namespace>/<name>`, as a kube-apiserver keeps them, in JSON.
//!
//! An object's version is the revision of its last write, so it is not part of what is stored; see [`served`].

use std::sync::Arc;

use bytes::Bytes;
use gantry_registry::admission::ServiceRanges;
use gantry_registry::admission::services::AllocationMode;
use gantry_registry::kinds::{Kind, Scope};
use gantry_registry::lifecycle::Deletion;
use gantry_registry::{Details, Refusal};
use gantry_store::{Error, Key, Op, Prefix, Revision, Store, Transaction, Versioned};
use serde_json::Value;

use crate::admission::{self, Grounds, Refused, Taken, holds_claims, is_claim};
use crate::catalogue::Catalogues;
use crate::served;

/// Where all objects are.
const ROOT: &str = "/registry";

/// How often a write that meets others is decided on anew.
const ATTEMPTS_MAX: usize = 64;

/// The objects in a store.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn Store>,
    /// What kinds of them there are.
    pub(crate) catalogues: Arc<Catalogues>,
    /// What services are given when they are stored.
    pub(crate) services: Arc<ServiceRanges>,
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
    /// It stays as it is. If it was stored differently, such as in an older version, it is stored anew.
    Renew,
    /// It becomes this.
    Store(Value),
    /// It goes. What is written before, if anything, is for watchers to see.
    Remove(Option<Value>),
}

/// What became of a new object.
pub(crate) enum Created {
    /// It is stored.
    Stored(Shown),
    /// It is not, because something that was to be written with it has changed. This is the object.
    Overtaken(Value),
    /// It is not, because what it stands on has changed. This is the object.
    Unfounded(Value),
}

/// What became of an object.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It is as it was.
    Kept(Shown),
    /// It is now this.
    Stored(Shown),
    /// It is gone, and was this; its version is that of the deletion.
    Removed(Shown),
}

/// An object to show, with its version, and its bytes if they are at hand.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    object: Value,
    stored: Option<Versioned>,
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn Store>, services: ServiceRanges) -> Self {
        Self { store, catalogues: Arc::default(), services: Arc::new(services) }
    }

    /// All keys of a kind, or of one namespace of it.
    pub(crate) fn prefix(kind: &Kind, namespace: Option<&str>) -> Prefix {
        Prefix::new(match namespace {
            Some(namespace) => format!("{ROOT}/{}/{namespace}/", kind.segment),
            None => format!("{ROOT}/{}/", kind.segment),
        })
    }

    /// Reads an object as it is stored.
    pub(crate) async fn fetch(&self, place: Place<'_>) -> Result<Versioned, Refusal> {
        let fetched = self.store.get(&key(place)?).await.map_err(|error| failed(&error))?;
        fetched.found.ok_or_else(|| not_found(place))
    }

    pub(crate) async fn get(&self, place: Place<'_>) -> Result<Value, Refusal> {
        let found = self.fetch(place).await?;
        served::parse(place.kind, &found.value, found.revision)
    }

    /// What creating an object would come to: it is shown without a version.
    pub(crate) async fn would_create(&self, place: Place<'_>, object: Value) -> Result<Shown, Refusal> {
        let fetched = self.store.get(&key(place)?).await.map_err(|error| failed(&error))?;
        match fetched.found {
            Some(current) => Err(already_exists(place, Some(&current))),
            None => Ok(object.into()),
        }
    }

    /// Stores a new object together with other writes, all or none, while its grounds hold.
    pub(crate) async fn create_with(
        &self,
        place: Place<'_>,
        mut object: Value,
        also: &[(Key, Op)],
        grounds: &Grounds,
    ) -> Result<Created, Refusal> {
        let key = key(place)?;
        let unallotted = holds_claims(place).then(|| object.clone());
        for _ in 0..ATTEMPTS_MAX {
            if let Err(why) = self.allot(place, None, &mut object, &Taken::default(), AllocationMode::Real) {
                // Of several ports that cannot be had the first one is told, be it taken or out of range.
                let refused = Refused { object: unallotted.unwrap_or(object), why };
                return Err(self.refusal(place, None, refused, AllocationMode::Real).await);
            }
            let value = served::stored_first(place.kind, &mut object);
            let transaction = Transaction::create(key.clone(), value.clone());
            let transaction = self.with_claims(place, transaction, None, Some(&object)).await;
            let transaction = transaction.map_err(|error| failed(&error))?;
            match self.store.commit(grounds.under(with(transaction, also)?)).await {
                Ok(revision) => return Ok(Created::Stored(Shown::stored(object, value, revision))),
                Err(Error::Conflict { key: met, current }) if met == key => {
                    return Err(already_exists(place, current.as_ref()));
                }
                Err(Error::Conflict { key: met, .. }) if is_claim(&met) => {
                    let taken = self.taken().await.map_err(|error| failed(&error))?;
                    object = unallotted.clone().unwrap_or(object);
                    self.allot(place, None, &mut object, &taken, AllocationMode::Real)?;
                }
                Err(Error::Conflict { key: met, .. }) if grounds.include(&met) => {
                    return Ok(Created::Unfounded(object));
                }
                Err(Error::Conflict { .. }) => return Ok(Created::Overtaken(object)),
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(conflict(place))
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
        let mut taken = Taken::default();
        for _ in 0..ATTEMPTS_MAX {
            let found = current.take().ok_or_else(|| not_found(place))?;
            let object = served::parse(place.kind, &found.value, found.revision)?;
            let mut change = decide(&object)?;
            let mut charges = Vec::new();
            if let Change::Store(wanted) = &mut change {
                self.allot(place, Some(&object), wanted, &taken, AllocationMode::Real)?;
                charges = admission::quota::differences(self, place, &object, wanted).await?;
            }
            match self.attempt(place, &key, found, object, change, &charges).await {
                Ok(outcome) => {
                    admission::quota::follow(self, place, &outcome).await;
                    return Ok(outcome);
                }
                Err(Error::Conflict { key: met, .. }) if met != key => {
                    if is_claim(&met) {
                        taken = self.taken().await.map_err(|error| failed(&error))?;
                    }
                    current = self.store.get(&key).await.map_err(|error| failed(&error))?.found;
                }
                Err(Error::Conflict { current: other, .. }) => current = other,
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(conflict(place))
    }

    async fn attempt(
        &self,
        place: Place<'_>,
        key: &Key,
        found: Versioned,
        object: Value,
        change: Change,
        charges: &[(Key, Op)],
    ) -> Result<Outcome, Error> {
        let seen = found.revision;
        match change {
            Change::Keep => Ok(Outcome::Kept(Shown { object, stored: Some(found) })),
            Change::Renew => {
                if served::stored(place.kind, &mut object.clone()) == found.value {
                    return Ok(Outcome::Kept(Shown { object, stored: Some(found) }));
                }
                self.replace(place, key, seen, &object, object.clone(), charges).await.map(Outcome::Stored)
            }
            Change::Store(wanted) => {
                self.replace(place, key, seen, &object, wanted, charges).await.map(Outcome::Stored)
            }
            Change::Remove(before) => {
                let last = match before {
                    None => Shown { object, stored: Some(found) },
                    Some(before) => self.replace(place, key, seen, &object, before, &[]).await?,
                };
                let seen = last.stored.as_ref().map_or(seen, |stored| stored.revision);
                let transaction = Transaction::delete(key.clone(), seen);
                let transaction = self.with_claims(place, transaction, Some(&last), None).await?;
                let revision = self.store.commit(transaction).await?;
                Ok(Outcome::Removed(last.at(revision)))
            }
        }
    }

    async fn replace(
        &self,
        place: Place<'_>,
        key: &Key,
        seen: Revision,
        before: &Value,
        mut object: Value,
        charges: &[(Key, Op)],
    ) -> Result<Shown, Error> {
        let value = served::stored(place.kind, &mut object);
        let transaction = Transaction::update(key.clone(), value.clone(), seen);
        let mut transaction = self.with_claims(place, transaction, Some(before), Some(&object)).await?;
        for (key, op) in charges {
            // Quotas are kept under keys of their own, so none of them can be there already.
            transaction = transaction.clone().and(key.clone(), op.clone()).unwrap_or(transaction);
        }
        let revision = self.store.commit(transaction).await?;
        Ok(Shown::stored(object, value, revision))
    }
}

/// The transaction with more writes; each is to a key of its own.
fn with(transaction: Transaction, also: &[(Key, Op)]) -> Result<Transaction, Refusal> {
    also.iter().try_fold(transaction, |transaction, (key, op)| {
        let more = transaction.and(key.clone(), op.clone());
        more.map_err(|twice| Refusal::server_error(twice.to_string()))
    })
}

impl From<Deletion> for Change {
    fn from(deletion: Deletion) -> Self {
        match deletion {
            Deletion::Unchanged => Self::Keep,
            Deletion::Linger(object) => Self::Store(object),
            Deletion::Remove(before) => Self::Remove(before),
        }
    }
}

impl Outcome {
    /// The object, whatever became of it.
    pub(crate) fn into_shown(self) -> Shown {
        match self {
            Self::Kept(shown) | Self::Stored(shown) | Self::Removed(shown) => shown,
        }
    }
}

impl Shown {
    fn stored(object: Value, value: Bytes, revision: Revision) -> Self {
        let stored = Some(Versioned { value, revision });
        Self { object: served::versioned(object, revision), stored }
    }

    /// The same object at another version.
    fn at(self, revision: Revision) -> Self {
        let stored = self.stored.map(|stored| Versioned { revision, ..stored });
        Self { object: served::versioned(self.object, revision), stored }
    }

    /// Its bytes as they are stored, if they are at hand.
    pub(crate) fn bytes(&self) -> Option<&Versioned> {
        self.stored.as_ref()
    }
}

impl From<Value> for Shown {
    /// An object that is not stored like that, such as the outcome of a dry run.
    fn from(object: Value) -> Self {
        Self { object, stored: None }
    }
}

impl std::ops::Deref for Shown {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.object
    }
}

/// Where an object is stored.
pub(crate) fn key(place: Place<'_>) -> Result<Key, Refusal> {
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
        let object = served::parse(place.kind, &found.value, found.revision);
        object.is_ok_and(|object| object["metadata"]["deletionTimestamp"].is_string())
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
    internal_error(&error.to_string())
}

/// What is said when the server cannot do what is asked for, although nothing is wrong with it.
pub(crate) fn internal_error(why: &str) -> Refusal {
    let cause = gantry_registry::Cause { reason: "", message: why.to_owned(), field: String::new() };
    Refusal {
        code: 500,
        reason: "InternalError",
        message: format!("Internal error occurred: {why}"),
        details: Some(Box::new(Details { causes: vec![cause], ..Details::default() })),
    }
}
