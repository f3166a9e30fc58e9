//! ResourceQuota admission: usage is charged in the transaction of the object, and recounted when objects are deleted.

use gantry_json::Value;
use gantry_registry::admission::quota::{self, Usage};
use gantry_schema::kinds::Scope;
use gantry_store::{Item, Key, ListRequest, Op, Transaction};

use super::{all, known};
use crate::error::ApiError;
use crate::objects::{ChangeResult, ObjectRef, Objects};
use crate::storage_codec;

/// The maximum number of recounts on write conflicts.
const COUNTS_MAX: usize = 16;

/// Returns the quota updates that must be in the transaction of a new object.
///
/// The caller retries on write conflicts, so that no two objects are charged as one.
pub(crate) async fn charges(
    objects: &Objects,
    object_ref: ObjectRef<'_>,
    object: &Value,
) -> Result<Vec<(Key, Op)>, ApiError> {
    let wanted = |quota: &Value| quota::wanted(quota, object_ref.kind, object);
    charged(objects, object_ref, wanted).await
}

/// Returns the quota updates that must be in the transaction of a changed object.
pub(crate) async fn differences(
    objects: &Objects,
    object_ref: ObjectRef<'_>,
    before: &Value,
    after: &Value,
) -> Result<Vec<(Key, Op)>, ApiError> {
    if Usage::of(object_ref.kind, before) == Usage::of(object_ref.kind, after) {
        return Ok(Vec::new());
    }
    charged(objects, object_ref, |quota: &Value| Ok(quota::difference(quota, object_ref.kind, before, after)))
        .await
}

async fn charged(
    objects: &Objects,
    object_ref: ObjectRef<'_>,
    wanted: impl Fn(&Value) -> Result<Option<Usage>, String>,
) -> Result<Vec<(Key, Op)>, ApiError> {
    let mut charges = Vec::new();
    for item in quotas(objects, object_ref).await? {
        let kind = known("", "resourcequotas")?;
        let quota = storage_codec::decode(kind, &item.value, item.revision)?;
        let Some(wanted) = wanted(&quota).map_err(|why| ApiError::forbidden(object_ref, why))? else {
            continue;
        };
        let recorded = quota::recorded(&quota).and_then(|used| quota::charge(&quota, &used, &wanted).ok());
        let mut after = if let Some(after) = recorded {
            after
        } else {
            // The recorded usage may be stale, so usage is recounted before the object is rejected.
            let used = count(objects, object_ref, &quota).await?;
            quota::charge(&quota, &used, &wanted).map_err(|why| ApiError::forbidden(object_ref, why))?
        };
        let value = storage_codec::encode(kind, &mut after);
        charges.push((item.key, Op::Update { value, seen: item.revision }));
    }
    Ok(charges)
}

/// Recounts the usage of quotas after an object was deleted or a pod finished.
///
/// A failure is harmless: [`charges`] recounts before it rejects an object.
pub(crate) async fn follow(objects: &Objects, object_ref: ObjectRef<'_>, outcome: &ChangeResult) {
    match outcome {
        ChangeResult::Removed(_) => follow_write(objects, object_ref, None).await,
        ChangeResult::Stored(object) => follow_write(objects, object_ref, Some(&**object)).await,
        ChangeResult::Kept(_) => {}
    }
}

/// Recounts the usage after an object was stored or removed, if necessary.
pub(crate) async fn follow_write(objects: &Objects, object_ref: ObjectRef<'_>, stored: Option<&Value>) {
    if quota::needs_recount(object_ref.kind, stored) {
        for _ in 0..COUNTS_MAX {
            if recount(objects, object_ref).await.unwrap_or(Recount::Done) == Recount::Done {
                return;
            }
        }
    }
}

/// The result of a recount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recount {
    Done,
    Conflicted,
}

async fn recount(objects: &Objects, object_ref: ObjectRef<'_>) -> Result<Recount, ApiError> {
    for item in quotas(objects, object_ref).await? {
        let kind = known("", "resourcequotas")?;
        let quota = storage_codec::decode(kind, &item.value, item.revision)?;
        let catalogue = objects.catalogues.last();
        let mut counted = quota::counted_kinds(&quota, &catalogue.kinds).into_iter();
        let is_counted = counted.any(|counted| counted.segment == object_ref.kind.segment);
        if quota::recorded(&quota).is_none() || !is_counted {
            continue;
        }
        let mut counted = quota::with_used(&quota, &count(objects, object_ref, &quota).await?);
        if counted["status"] == quota["status"] {
            continue;
        }
        let value = storage_codec::encode(kind, &mut counted);
        if objects.store.commit(Transaction::update(item.key, value, item.revision)).await.is_err() {
            return Ok(Recount::Conflicted);
        }
    }
    Ok(Recount::Done)
}

/// Lists the quotas of the object's namespace.
async fn quotas(objects: &Objects, object_ref: ObjectRef<'_>) -> Result<Vec<Item>, ApiError> {
    let (Scope::Namespaced, Some(_)) = (object_ref.kind.scope, object_ref.namespace) else {
        return Ok(Vec::new());
    };
    let request = ListRequest::all(Objects::prefix(known("", "resourcequotas")?, object_ref.namespace));
    objects.store.list(request).await.map(|page| page.items).map_err(ApiError::from)
}

async fn count(objects: &Objects, object_ref: ObjectRef<'_>, quota: &Value) -> Result<Usage, ApiError> {
    let mut used = Usage::default();
    let catalogue = objects.catalogues.last();
    for kind in quota::counted_kinds(quota, &catalogue.kinds) {
        let found = all(objects, kind, object_ref.namespace).await?;
        used = used.plus(&quota::count(quota, kind, &found));
    }
    Ok(used)
}
