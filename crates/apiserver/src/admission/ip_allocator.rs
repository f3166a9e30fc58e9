//! Allocates cluster IPs and node ports of services: one key each, created and deleted in the transaction of the
//! service, and the IPAddress of a cluster IP with them.
//!
//! A write conflict on such a key means that the value is in use, by a service of this server or of another one on the
//! same store. Only then are the allocated values listed.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use gantry_json::Value;
use gantry_registry::admission::Claim;
use gantry_registry::admission::services::{self, AllocationError, AllocationMode};
use gantry_registry::{strategies, validation};
use gantry_store::{Error, Key, ListRequest, Op, Prefix, Transaction};

use super::ip_address;
use crate::error::ApiError;
use crate::objects::{ObjectRef, Objects};

/// The prefix of the keys of allocated values.
const ROOT: &str = "/registry/ranges/";

/// The addresses and ports of other services, as far as they have been listed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocated(BTreeSet<Claim>);

/// An object that failed validation.
pub(crate) struct RejectedObject {
    pub(crate) object: Value,
    pub(crate) why: ApiError,
}

impl Objects {
    /// Allocates the addresses and ports that a service needs; does nothing for other kinds.
    pub(crate) fn allocate(
        &self,
        object_ref: ObjectRef<'_>,
        stored: Option<&Value>,
        object: &mut Value,
        allocated: &Allocated,
        allotment: AllocationMode,
    ) -> Result<(), ApiError> {
        if !needs_allocation(object_ref) {
            return Ok(());
        }
        services::allocate(&self.services, stored, object, &allocated.0, allotment).map_err(|why| match why {
            AllocationError::Wrong(wrong) => {
                ApiError::invalid(object_ref.kind.kind, object_ref.kind.group, object_ref.name, &[wrong])
            }
            AllocationError::Failed(why) => ApiError::Internal(why),
        })
    }

    /// Sets the addresses and ports that would be allocated if the service were stored.
    pub(crate) async fn dry_run_allocate(
        &self,
        object_ref: ObjectRef<'_>,
        stored: Option<&Value>,
        object: &mut Value,
    ) -> Result<(), ApiError> {
        if !needs_allocation(object_ref) {
            return Ok(());
        }
        let allocated = self.allocated().await?;
        self.allocate(object_ref, stored, object, &allocated, AllocationMode::DryRun)
    }

    /// Returns the error about a rejected object: an allocation error takes precedence over the validation error.
    pub(crate) async fn refusal(
        &self,
        object_ref: ObjectRef<'_>,
        stored: Option<&Value>,
        refused: RejectedObject,
        allotment: AllocationMode,
    ) -> ApiError {
        let RejectedObject { mut object, why } = refused;
        if !needs_allocation(object_ref) || !validation::is_addressable(object_ref.kind, &object) {
            return why;
        }
        let allocated = match self.allocated().await {
            Ok(allocated) => allocated,
            Err(error) => return error.into(),
        };
        self.allocate(object_ref, stored, &mut object, &allocated, allotment).err().unwrap_or(why)
    }

    /// Adds the creation and deletion of allocation keys to the transaction of a service.
    pub(crate) async fn with_allocations(
        &self,
        object_ref: ObjectRef<'_>,
        transaction: Transaction,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Result<Transaction, Error> {
        if !needs_allocation(object_ref) {
            return Ok(transaction);
        }
        let claims = |object: Option<&Value>| object.map(services::claims).unwrap_or_default();
        let service = after;
        let (before, after) = (claims(before), claims(after));
        let owner = format!("{}/{}", object_ref.namespace.unwrap_or_default(), object_ref.name);
        let mut ops: Vec<(Key, Op)> = Vec::new();
        for key in after.difference(&before).copied().filter_map(key_of) {
            ops.push((key, Op::Create { value: owner.clone().into() }));
        }
        for address in after.difference(&before).copied().filter_map(address_of) {
            ops.extend(service.and_then(|service| ip_address::creation(service, address)));
        }
        for address in before.difference(&after).copied().filter_map(address_of) {
            ops.extend(self.ip_address_deletion(object_ref, address).await?);
        }
        for key in before.difference(&after).copied().filter_map(key_of) {
            let held = self.store.get(&key).await?.found;
            if let Some(held) = held.filter(|held| held.value == owner.as_bytes()) {
                ops.push((key, Op::Delete { seen: held.revision }));
            }
        }
        // Each value has a separate key, so none is in the transaction yet.
        Ok(ops.into_iter().fold(transaction, |transaction, (key, op)| {
            transaction.clone().and(key, op).unwrap_or(transaction)
        }))
    }

    /// Lists all allocated addresses and ports.
    pub(crate) async fn allocated(&self) -> Result<Allocated, Error> {
        let page = self.store.list(ListRequest::all(Prefix::new(ROOT))).await?;
        let text = |key: &Key| String::from_utf8_lossy(key.as_bytes()).into_owned();
        let claims = page.items.iter().filter_map(|item| Claim::parse(text(&item.key).strip_prefix(ROOT)?));
        let mut claims: BTreeSet<Claim> = claims.collect();
        claims.extend(self.ip_addresses().await?.into_iter().map(Claim::Address));
        Ok(Allocated(claims))
    }
}

/// Whether a key is an allocation: the key of a value, or of the IPAddress of a cluster IP.
pub(crate) fn is_allocation(key: &Key) -> bool {
    key.as_bytes().starts_with(ROOT.as_bytes()) || ip_address::is_key(key)
}

fn address_of(claim: Claim) -> Option<Ipv4Addr> {
    match claim {
        Claim::Address(address) => Some(address),
        Claim::Port(_) => None,
    }
}

/// Whether objects of the kind have allocated addresses or ports.
pub(crate) fn needs_allocation(object_ref: ObjectRef<'_>) -> bool {
    strategies::of(object_ref.kind).allocates_addresses
}

fn key_of(claim: Claim) -> Option<Key> {
    Key::new(format!("{ROOT}{claim}")).ok()
}
