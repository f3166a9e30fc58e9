//! The quotas of a namespace: charged together with what uses them, counted anew when something goes.

use gantry_registry::admission::quota::{self, Usage};
use gantry_registry::{Refusal, kinds::Scope};
use gantry_store::{Item, Key, ListRequest, Op, Transaction};
use serde_json::Value;

use super::{all, forbidden, known};
use crate::objects::{Objects, Outcome, Place, failed};
use crate::served;

/// How often a count is begun anew that others overtake.
const COUNTS_MAX: usize = 16;

/// What must be written together with a new object: the quotas that it uses, used a little more.
///
/// Whoever is overtaken by another write to a quota asks again, so that no two objects are charged as one.
pub(crate) async fn charges(
    objects: &Objects,
    place: Place<'_>,
    object: &Value,
) -> Result<Vec<(Key, Op)>, Refusal> {
    let wanted = |quota: &Value| quota::wanted(quota, place.kind, object);
    charged(objects, place, wanted).await
}

/// What must be written together with a changed object that uses more than before, or less.
pub(crate) async fn differences(
    objects: &Objects,
    place: Place<'_>,
    before: &Value,
    after: &Value,
) -> Result<Vec<(Key, Op)>, Refusal> {
    let is_same = || Usage::of(place.kind, before) == Usage::of(place.kind, after);
    if !matches!(place.kind.resource, "services" | "persistentvolumeclaims" | "pods") || is_same() {
        return Ok(Vec::new());
    }
    charged(objects, place, |quota: &Value| Ok(quota::difference(quota, place.kind, before, after))).await
}

async fn charged(
    objects: &Objects,
    place: Place<'_>,
    wanted: impl Fn(&Value) -> Result<Option<Usage>, String>,
) -> Result<Vec<(Key, Op)>, Refusal> {
    let mut charges = Vec::new();
    for item in quotas(objects, place).await? {
        let kind = known("", "resourcequotas")?;
        let quota = served::parse(kind, &item.value, item.revision)?;
        let Some(wanted) = wanted(&quota).map_err(|why| forbidden(place, &why))? else { continue };
        let recorded = quota::recorded(&quota).and_then(|used| quota::charge(&quota, &used, &wanted).ok());
        let mut after = if let Some(after) = recorded {
            after
        } else {
            // Before anybody is turned away, what is used is counted: things may have gone unnoticed.
            let used = count(objects, place, &quota).await?;
            quota::charge(&quota, &used, &wanted).map_err(|why| forbidden(place, &why))?
        };
        let value = served::stored(kind, &mut after);
        charges.push((item.key, Op::Update { value, seen: item.revision }));
    }
    Ok(charges)
}

/// Counts anew what quotas limit, after something that they count is gone or done.
///
/// This is for people to see. Should it fail, then nobody is wronged: see [`charges`].
pub(crate) async fn follow(objects: &Objects, place: Place<'_>, outcome: &Outcome) {
    let is_over = match outcome {
        Outcome::Removed(_) => place.kind.scope == Scope::Namespaced,
        Outcome::Stored(object) => {
            place.kind.resource == "pods"
                && matches!(object["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
        }
        Outcome::Kept(_) => false,
    };
    if is_over && place.kind.resource != "events" {
        for _ in 0..COUNTS_MAX {
            if recount(objects, place).await.unwrap_or(Counted::Settled) == Counted::Settled {
                return;
            }
        }
    }
}

/// What came of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Settled,
    Overtaken,
}

async fn recount(objects: &Objects, place: Place<'_>) -> Result<Counted, Refusal> {
    for item in quotas(objects, place).await? {
        let kind = known("", "resourcequotas")?;
        let quota = served::parse(kind, &item.value, item.revision)?;
        let catalogue = objects.catalogues.last();
        let mut counted = quota::counted_kinds(&quota, &catalogue.kinds).into_iter();
        let is_counted = counted.any(|counted| counted.segment == place.kind.segment);
        if quota::recorded(&quota).is_none() || !is_counted {
            continue;
        }
        let mut counted = quota::with_used(&quota, &count(objects, place, &quota).await?);
        if counted["status"] == quota["status"] {
            continue;
        }
        let value = served::stored(kind, &mut counted);
        if objects.store.commit(Transaction::update(item.key, value, item.revision)).await.is_err() {
            return Ok(Counted::Overtaken);
        }
    }
    Ok(Counted::Settled)
}

/// The quotas of an object's namespace.
async fn quotas(objects: &Objects, place: Place<'_>) -> Result<Vec<Item>, Refusal> {
    let (Scope::Namespaced, Some(_)) = (place.kind.scope, place.namespace) else { return Ok(Vec::new()) };
    let request = ListRequest::all(Objects::prefix(known("", "resourcequotas")?, place.namespace));
    objects.store.list(request).await.map(|page| page.items).map_err(|error| failed(&error))
}

async fn count(objects: &Objects, place: Place<'_>, quota: &Value) -> Result<Usage, Refusal> {
    let mut used = Usage::default();
    let catalogue = objects.catalogues.last();
    for kind in quota::counted_kinds(quota, &catalogue.kinds) {
        let found = all(objects, kind, place.namespace).await?;
        used = used.plus(&quota::count(quota, kind, &found));
    }
    Ok(used)
}
