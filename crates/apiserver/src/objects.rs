//! Objects in the store: `/registry/<resource>/<namespace>/<name>`, the keys of kube-apiserver, in JSON.
//!
//! An object's resource version is the revision of its last write and not part of the stored value; see
//! [`storage_codec`].

use std::sync::Arc;

use bytes::Bytes;
use gantry_json::Value;
use gantry_registry::admission::ServiceRanges;
use gantry_registry::admission::services::AllocationMode;
use gantry_registry::lifecycle::Deletion;
use gantry_schema::decode;
use gantry_schema::empties::{self, Form};
use gantry_schema::encode::{PreviousText, TextParts};
use gantry_schema::kinds::{Kind, Scope};
use gantry_store::{Error, Item, Key, Op, Prefix, Revision, Store, Transaction, Versioned};

use crate::admission::{self, Allocated, Preconditions, RejectedObject, is_allocation, needs_allocation};
use crate::catalogue::Catalogues;
use crate::decoded_cache::{DecodedCache, DecodedObject, is_cached};
use crate::error::{ApiError, ExistingObject};
use crate::heavy_work::HeavyWork;
use crate::metadata::Metadata;
use crate::settings::Settings;
use crate::storage_codec::{self, EncodedObject};

/// The prefix of all keys.
const ROOT: &str = "/registry";

/// The maximum number of attempts of a write on conflicts.
const ATTEMPTS_MAX: usize = 64;

/// The objects in a store.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn Store>,
    /// The served kinds.
    pub(crate) catalogues: Arc<Catalogues>,
    /// The ranges that addresses and ports are allocated from.
    pub(crate) services: Arc<ServiceRanges>,
    heavy_work: Arc<HeavyWork>,
    decoded: Arc<DecodedCache>,
}

/// Identifies an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectRef<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
}

/// A change to an existing object.
pub(crate) enum Change {
    /// No change.
    Keep,
    /// No change; it is re-encoded and written if the stored bytes differ, such as in an older version.
    Renew,
    /// Replaces the object.
    Store(Value),
    /// Deletes the object, after writing this state, if any, for watchers. Both are one transaction.
    Remove(Option<Value>),
}

/// The result of creating an object.
pub(crate) enum CreateResult {
    /// It is stored.
    Stored(ObjectResponse),
    /// Not stored: a concurrent write to another key of the transaction. Returns the object.
    Conflicted(Value),
    /// Not stored: a precondition has changed. Returns the object.
    PreconditionFailed(Value),
}

/// The result of changing an object.
#[derive(Clone, Debug)]
pub(crate) enum ChangeResult {
    /// Unchanged.
    Kept(ObjectResponse),
    /// Replaced.
    Stored(ObjectResponse),
    /// Deleted; the version is the revision of the deletion.
    Removed(ObjectResponse),
}

/// An object to respond with, and its stored bytes if available.
#[derive(Clone, Debug)]
pub(crate) struct ObjectResponse {
    object: Value,
    stored: Option<Versioned>,
}

/// Decides on the change of an object as it is stored.
type Decide<'a> = dyn FnMut(&Value) -> Result<Change, ApiError> + Send + 'a;

impl Objects {
    pub(crate) fn new(store: Arc<dyn Store>, settings: &Settings, heavy_work: Arc<HeavyWork>) -> Self {
        let services = Arc::new(settings.services.clone());
        let decoded = Arc::new(DecodedCache::new(settings.decoded_objects));
        Self { store, catalogues: Arc::default(), services, heavy_work, decoded }
    }

    /// The key prefix of a kind, or of one namespace.
    pub(crate) fn prefix(kind: &Kind, namespace: Option<&str>) -> Prefix {
        Prefix::new(match namespace {
            Some(namespace) => format!("{ROOT}/{}/{namespace}/", kind.segment),
            None => format!("{ROOT}/{}/", kind.segment),
        })
    }

    /// Returns the stored bytes of an object.
    pub(crate) async fn fetch(&self, object_ref: ObjectRef<'_>) -> Result<Versioned, ApiError> {
        self.fetch_key(object_ref, &key(object_ref)?).await
    }

    async fn fetch_key(&self, object_ref: ObjectRef<'_>, key: &Key) -> Result<Versioned, ApiError> {
        let fetched = self.store.get(key).await?;
        fetched.found.ok_or_else(|| ApiError::not_found(object_ref))
    }

    pub(crate) async fn get(&self, object_ref: ObjectRef<'_>) -> Result<Value, ApiError> {
        let key = key(object_ref)?;
        let found = self.fetch_key(object_ref, &key).await?;
        Ok(self.decode(object_ref.kind, &key, &found)?.object)
    }

    /// Decodes a stored object, unless it is in the cache of decoded objects.
    fn decode(&self, kind: &Kind, key: &Key, stored: &Versioned) -> Result<DecodedObject, ApiError> {
        if let Some(decoded) = self.decoded.get(kind, key, stored.revision) {
            return Ok(decoded);
        }
        let object = storage_codec::decode(kind, &stored.value, stored.revision)?;
        Ok(DecodedObject { object, parts: Arc::default() })
    }

    /// The response with an object that was stored. The object is cached so that the next write need not decode it.
    fn stored(
        &self,
        kind: &Kind,
        key: &Key,
        object: Value,
        stored: Versioned,
        parts: TextParts,
    ) -> ObjectResponse {
        let Versioned { revision, .. } = stored;
        let mut object = storage_codec::with_version(object, revision);
        decode::complete_root(&mut object, &kind.nature);
        debug_assert!(
            !is_cached(kind)
                || storage_codec::decode(kind, &stored.value, revision)
                    .is_ok_and(|decoded| decoded == object),
            "the cached object differs from the decoded one: {object} {stored:?}"
        );
        self.decoded.insert(kind, key, revision, &object, parts);
        ObjectResponse { object, stored: Some(stored) }
    }

    /// Returns the object as the result of a dry-run create, in the form in which it would be read; or an error if it exists.
    pub(crate) async fn dry_run_create(
        &self,
        object_ref: ObjectRef<'_>,
        mut object: Value,
    ) -> Result<ObjectResponse, ApiError> {
        let fetched = self.store.get(&key(object_ref)?).await?;
        if let Some(current) = fetched.found {
            return Err(already_exists(object_ref, Some(&current)));
        }
        empties::drop_empties(Form::Stored, &object_ref.kind.nature, &mut object);
        Ok(object.into())
    }

    /// Stores a new object together with other writes in one transaction, under preconditions.
    pub(crate) async fn create_with(
        &self,
        object_ref: ObjectRef<'_>,
        mut object: Value,
        also: &[(Key, Op)],
        preconditions: &Preconditions,
    ) -> Result<CreateResult, ApiError> {
        let key = key(object_ref)?;
        let unallocated = needs_allocation(object_ref).then(|| object.clone());
        for _ in 0..ATTEMPTS_MAX {
            if let Err(why) =
                self.allocate(object_ref, None, &mut object, &Allocated::default(), AllocationMode::Real)
            {
                // Of several invalid ports the first one is reported, whether it is in use or out of range.
                let refused = RejectedObject { object: unallocated.unwrap_or(object), why };
                return Err(self.refusal(object_ref, None, refused, AllocationMode::Real).await);
            }
            let EncodedObject { bytes: value, parts } =
                storage_codec::encode_new(object_ref.kind, &mut object);
            let transaction = Transaction::create(key.clone(), value.clone());
            let transaction = self.with_allocations(object_ref, transaction, None, Some(&object)).await;
            let transaction = transaction?;
            match self.store.commit(preconditions.apply_to(with(transaction, also)?)).await {
                Ok(revision) => {
                    let stored = Versioned { value, revision };
                    let stored = self.stored(object_ref.kind, &key, object, stored, parts);
                    return Ok(CreateResult::Stored(stored));
                }
                Err(Error::Conflict { key: conflicting, current }) if conflicting == key => {
                    return Err(already_exists(object_ref, current.as_ref()));
                }
                Err(Error::Conflict { key: conflicting, .. }) if is_allocation(&conflicting) => {
                    let allocated = self.allocated().await?;
                    object = unallocated.clone().unwrap_or(object);
                    self.allocate(object_ref, None, &mut object, &allocated, AllocationMode::Real)?;
                }
                Err(Error::Conflict { key: conflicting, .. }) if preconditions.contains(&conflicting) => {
                    return Ok(CreateResult::PreconditionFailed(object));
                }
                Err(Error::Conflict { .. }) => return Ok(CreateResult::Conflicted(object)),
                Err(error) => return Err(error.into()),
            }
        }
        Err(ApiError::modified(object_ref))
    }

    /// Removes an object whose deletion depends only on what was read. Returns `false` if it has changed since, or if
    /// other keys are deleted with it.
    pub(crate) async fn remove_read(&self, object_ref: ObjectRef<'_>, read: &Item) -> Result<bool, ApiError> {
        if needs_allocation(object_ref) {
            return Ok(false);
        }
        match self.store.commit(Transaction::delete(read.key.clone(), read.revision)).await {
            Ok(_) => {
                self.decoded.remove(&read.key);
                admission::quota::follow_write(self, object_ref, None).await;
                Ok(true)
            }
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes an existing object. Calls `decide` again after each write conflict.
    pub(crate) async fn change(
        &self,
        object_ref: ObjectRef<'_>,
        mut decide: impl FnMut(&Value) -> Result<Change, ApiError> + Send,
    ) -> Result<ChangeResult, ApiError> {
        self.change_by(object_ref, &mut decide).await
    }

    /// [`change`](Self::change), compiled once for all functions.
    async fn change_by(
        &self,
        object_ref: ObjectRef<'_>,
        decide: &mut Decide<'_>,
    ) -> Result<ChangeResult, ApiError> {
        let key = key(object_ref)?;
        let current = self.store.get(&key).await?.found;
        let bytes = current.as_ref().map_or(0, |found| found.value.len());
        self.heavy_work.run_future(bytes, self.change_from(current, &key, object_ref, decide)).await
    }

    async fn change_from(
        &self,
        mut current: Option<Versioned>,
        key: &Key,
        object_ref: ObjectRef<'_>,
        decide: &mut Decide<'_>,
    ) -> Result<ChangeResult, ApiError> {
        let mut allocated = Allocated::default();
        for _ in 0..ATTEMPTS_MAX {
            let found = current.take().ok_or_else(|| ApiError::not_found(object_ref))?;
            let decoded = self.decode(object_ref.kind, key, &found)?;
            let mut change = decide(&decoded.object)?;
            let mut charges = Vec::new();
            if let Change::Store(wanted) = &mut change {
                let before = &decoded.object;
                self.allocate(object_ref, Some(before), wanted, &allocated, AllocationMode::Real)?;
                charges = admission::quota::differences(self, object_ref, before, wanted).await?;
            }
            match self.attempt(object_ref, key, found, decoded, change, &charges).await {
                Ok(outcome) => {
                    admission::quota::follow(self, object_ref, &outcome).await;
                    return Ok(outcome);
                }
                Err(Error::Conflict { key: conflicting, .. }) if conflicting != *key => {
                    if is_allocation(&conflicting) {
                        allocated = self.allocated().await?;
                    }
                    current = self.store.get(key).await?.found;
                }
                Err(Error::Conflict { current: other, .. }) => current = other,
                Err(error) => return Err(error.into()),
            }
        }
        Err(ApiError::modified(object_ref))
    }

    async fn attempt(
        &self,
        object_ref: ObjectRef<'_>,
        key: &Key,
        found: Versioned,
        decoded: DecodedObject,
        change: Change,
        charges: &[(Key, Op)],
    ) -> Result<ChangeResult, Error> {
        match change {
            Change::Keep => {
                Ok(ChangeResult::Kept(ObjectResponse { object: decoded.object, stored: Some(found) }))
            }
            Change::Renew => {
                let object = decoded.object.clone();
                if storage_codec::encode(object_ref.kind, &mut object.clone()) == found.value {
                    return Ok(ChangeResult::Kept(ObjectResponse { object, stored: Some(found) }));
                }
                self.replace(object_ref, key, &found, &decoded, object, charges)
                    .await
                    .map(ChangeResult::Stored)
            }
            Change::Store(wanted) => self
                .replace(object_ref, key, &found, &decoded, wanted, charges)
                .await
                .map(ChangeResult::Stored),
            Change::Remove(before) => {
                let seen = found.revision;
                let (transaction, last) = match before {
                    None => {
                        let last = ObjectResponse { object: decoded.object, stored: Some(found) };
                        (Transaction::delete(key.clone(), seen), last)
                    }
                    Some(mut before) => {
                        let stored = PreviousText { text: &found.value, parts: &decoded.parts };
                        let encoded =
                            storage_codec::encode_reusing(object_ref.kind, &mut before, Some(stored));
                        let value = encoded.bytes;
                        let transaction = Transaction::update_and_delete(key.clone(), value.clone(), seen);
                        (transaction, ObjectResponse::stored(before, value, seen))
                    }
                };
                let transaction = self.with_allocations(object_ref, transaction, Some(&last), None).await?;
                let revision = self.store.commit(transaction).await?;
                self.decoded.remove(key);
                Ok(ChangeResult::Removed(last.at(revision)))
            }
        }
    }

    async fn replace(
        &self,
        object_ref: ObjectRef<'_>,
        key: &Key,
        found: &Versioned,
        before: &DecodedObject,
        mut object: Value,
        charges: &[(Key, Op)],
    ) -> Result<ObjectResponse, Error> {
        let stored = PreviousText { text: &found.value, parts: &before.parts };
        let EncodedObject { bytes: value, parts } =
            storage_codec::encode_reusing(object_ref.kind, &mut object, Some(stored));
        let transaction = Transaction::update(key.clone(), value.clone(), found.revision);
        let mut transaction =
            self.with_allocations(object_ref, transaction, Some(&before.object), Some(&object)).await?;
        for (key, op) in charges {
            // The keys of quotas differ from those that are in the transaction already.
            transaction = transaction.clone().and(key.clone(), op.clone()).unwrap_or(transaction);
        }
        let revision = self.store.commit(transaction).await?;
        Ok(self.stored(object_ref.kind, key, object, Versioned { value, revision }, parts))
    }
}

/// Adds writes to other keys to the transaction.
fn with(transaction: Transaction, also: &[(Key, Op)]) -> Result<Transaction, ApiError> {
    also.iter().try_fold(transaction, |transaction, (key, op)| {
        let more = transaction.and(key.clone(), op.clone());
        more.map_err(|twice| ApiError::unclassified(twice.to_string()))
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

impl ChangeResult {
    /// The object, for either result.
    pub(crate) fn into_object(self) -> ObjectResponse {
        match self {
            Self::Kept(shown) | Self::Stored(shown) | Self::Removed(shown) => shown,
        }
    }
}

impl ObjectResponse {
    fn stored(object: Value, value: Bytes, revision: Revision) -> Self {
        let stored = Some(Versioned { value, revision });
        Self { object: storage_codec::with_version(object, revision), stored }
    }

    /// The same object at another version.
    fn at(self, revision: Revision) -> Self {
        let stored = self.stored.map(|stored| Versioned { revision, ..stored });
        Self { object: storage_codec::with_version(self.object, revision), stored }
    }

    /// The stored bytes, if available.
    pub(crate) fn bytes(&self) -> Option<&Versioned> {
        self.stored.as_ref()
    }
}

impl From<Value> for ObjectResponse {
    /// An object that is not stored in this form, such as the result of a dry run.
    fn from(object: Value) -> Self {
        Self { object, stored: None }
    }
}

impl std::ops::Deref for ObjectResponse {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.object
    }
}

/// The key of an object.
pub(crate) fn key(object_ref: ObjectRef<'_>) -> Result<Key, ApiError> {
    let ObjectRef { kind, namespace, name } = object_ref;
    let path = match (kind.scope, namespace) {
        (Scope::Namespaced, Some(namespace)) => format!("{ROOT}/{}/{namespace}/{name}", kind.segment),
        _ => format!("{ROOT}/{}/{name}", kind.segment),
    };
    Key::new(path).map_err(|_| ApiError::bad_request("the name of the object is too long"))
}

impl<'a> ObjectRef<'a> {
    /// The reference to an object of this kind.
    pub(crate) fn of(kind: &'a Kind, object: &'a Value) -> Self {
        let metadata = Metadata::of(object);
        Self { kind, namespace: metadata.namespace(), name: metadata.name() }
    }
}

fn already_exists(object_ref: ObjectRef<'_>, current: Option<&Versioned>) -> ApiError {
    let is_deleting = current.is_some_and(|found| {
        storage_codec::is_deleting(object_ref.kind, &found.value, found.revision).unwrap_or(false)
    });
    ApiError::AlreadyExists(ExistingObject { object: object_ref.into(), is_deleting })
}
