//! Addresses and ports of services: a key each, written and removed together with the service that holds it.
//!
//! Whoever wants the same meets that key, in this server or in another one on the same store, and learns only then which
//! ones are taken; until then nobody needs to know.

use std::collections::BTreeSet;

use gantry_registry::admission::Claim;
use gantry_registry::admission::services::{self, AllocationError, AllocationMode};
use gantry_registry::{Refusal, validation};
use gantry_store::{Error, Key, ListRequest, Op, Prefix, Transaction};
use serde_json::Value;

use crate::objects::{Objects, Place, failed, internal_error};

/// Where claims are.
const ROOT: &str = "/registry/ranges/";

/// What other services hold, as far as is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken(BTreeSet<Claim>);

/// An object that was found to be wrong.
pub(crate) struct Refused {
    pub(crate) object: Value,
    pub(crate) why: Refusal,
}

impl Objects {
    /// Gives a service what it lacks; everything else stays as it is.
    pub(crate) fn allot(
        &self,
        place: Place<'_>,
        stored: Option<&Value>,
        object: &mut Value,
        taken: &Taken,
        allotment: AllocationMode,
    ) -> Result<(), Refusal> {
        if !holds_claims(place) {
            return Ok(());
        }
        services::allocate(&self.services, stored, object, &taken.0, allotment).map_err(|why| match why {
            AllocationError::Wrong(wrong) => {
                Refusal::invalid(place.kind.kind, place.kind.group, place.name, &[wrong])
            }
            AllocationError::Failed(why) => internal_error(&why),
        })
    }

    /// Gives a service what it would be given if it were stored.
    pub(crate) async fn would_allot(
        &self,
        place: Place<'_>,
        stored: Option<&Value>,
        object: &mut Value,
    ) -> Result<(), Refusal> {
        if !holds_claims(place) {
            return Ok(());
        }
        let taken = self.taken().await.map_err(|error| failed(&error))?;
        self.allot(place, stored, object, &taken, AllocationMode::DryRun)
    }

    /// Returns why a refused object is refused: that it cannot have what it asks for is told before anything else.
    pub(crate) async fn refusal(
        &self,
        place: Place<'_>,
        stored: Option<&Value>,
        refused: Refused,
        allotment: AllocationMode,
    ) -> Refusal {
        let Refused { mut object, why } = refused;
        if !holds_claims(place) || !validation::is_addressable(place.kind, &object) {
            return why;
        }
        let taken = match self.taken().await {
            Ok(taken) => taken,
            Err(error) => return failed(&error),
        };
        self.allot(place, stored, &mut object, &taken, allotment).err().unwrap_or(why)
    }

    /// The transaction with the claims that come and go as a service changes.
    pub(crate) async fn with_claims(
        &self,
        place: Place<'_>,
        transaction: Transaction,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Result<Transaction, Error> {
        if !holds_claims(place) {
            return Ok(transaction);
        }
        let claims = |object: Option<&Value>| object.map(services::claims).unwrap_or_default();
        let (before, after) = (claims(before), claims(after));
        let owner = format!("{}/{}", place.namespace.unwrap_or_default(), place.name);
        let mut ops: Vec<(Key, Op)> = Vec::new();
        for key in after.difference(&before).copied().filter_map(key_of) {
            ops.push((key, Op::Create { value: owner.clone().into() }));
        }
        for key in before.difference(&after).copied().filter_map(key_of) {
            let held = self.store.get(&key).await?.found;
            if let Some(held) = held.filter(|held| held.value == owner.as_bytes()) {
                ops.push((key, Op::Delete { seen: held.revision }));
            }
        }
        // Each claim has a key of its own, and none is the service's.
        Ok(ops.into_iter().fold(transaction, |transaction, (key, op)| {
            transaction.clone().and(key, op).unwrap_or(transaction)
        }))
    }

    /// Everything that services hold.
    pub(crate) async fn taken(&self) -> Result<Taken, Error> {
        let page = self.store.list(ListRequest::all(Prefix::new(ROOT))).await?;
        let text = |key: &Key| String::from_utf8_lossy(key.as_bytes()).into_owned();
        let claims = page.items.iter().filter_map(|item| Claim::parse(text(&item.key).strip_prefix(ROOT)?));
        Ok(Taken(claims.collect()))
    }
}

/// Whether a key is that of a claim.
pub(crate) fn is_claim(key: &Key) -> bool {
    key.as_bytes().starts_with(ROOT.as_bytes())
}

/// Whether objects of the kind hold addresses or ports.
pub(crate) fn holds_claims(place: Place<'_>) -> bool {
    (place.kind.group, place.kind.kind) == ("", "Service")
}

fn key_of(claim: Claim) -> Option<Key> {
    Key::new(format!("{ROOT}{claim}")).ok()
}
