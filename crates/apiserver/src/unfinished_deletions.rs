//! Completes deletions of pods that a crash interrupted.
//!
//! A pod without a grace period is written with its deletion timestamp and removed at the next revision. Stores of
//! Gantry do both or neither; on etcd a crash may have left only the first. No kubelet or controller continues such a
//! deletion: for them it is complete.

use gantry_registry::lifecycle;
use gantry_schema::kinds::kinds;
use gantry_store::{Error, ListRequest, Transaction};

use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::Objects;
use crate::storage_codec;

/// The page size of lists.
const PAGE: usize = 500;

/// Removes the pods whose deletion has no remaining grace period and is not blocked by finalizers.
pub(crate) async fn complete(server: &ApiServer) -> Result<(), ApiError> {
    let Some(kind) = kinds().resource("", "v1", "pods") else { return Ok(()) };
    let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
    loop {
        let page = server.objects.store.list(request.clone()).await?;
        for item in page.items {
            // An unreadable pod does not prevent the removal of others.
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
