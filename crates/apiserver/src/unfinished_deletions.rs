//! Completes deletions of pods that a crash interrupted.
//!
//! A pod without a grace period is written with its deletion timestamp and removed at the next revision. Stores of
//! Gantry do both or neither; on etcd a crash may have left the first alone. No kubelet or controller takes such a pod up:
//! for them its deletion is complete.

use gantry_registry::lifecycle;
use gantry_schema::kinds::kinds;
use gantry_store::{Error, ListRequest, Transaction};

use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::Objects;
use crate::storage_codec;

/// The page size of lists.
const PAGE: usize = 500;

/// Removes the pods whose deletion has no grace period left and is not held by finalizers.
pub(crate) async fn complete(server: &ApiServer) -> Result<(), ApiError> {
    let Some(kind) = kinds().resource("", "v1", "pods") else { return Ok(()) };
    let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
    loop {
        let page = server.objects.store.list(request.clone()).await?;
        for item in page.items {
            // An unreadable pod does not keep others from being removed.
            if !storage_codec::is_deleting(kind, &item.value, item.revision).unwrap_or(false) {
                continue;
            }
            let pod = storage_codec::decode(kind, &item.value, item.revision)?;
            if !lifecycle::is_deletion_due(&pod) {
                continue;
            }
            match server.objects.store.commit(Transaction::delete(item.key, item.revision)).await {
                // Another server on the same store has changed or removed it.
                Ok(_) | Err(Error::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match page.next {
            Some(next) => request.start = Some(next),
            None => return Ok(()),
        }
    }
}
