//! Expiry of Events.

use gantry_primitives::Refusal;
use gantry_registry::lifecycle;
use gantry_schema::kinds::kinds;
use gantry_store::{Error, ListRequest, Transaction};

use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::Objects;
use crate::storage_codec;

/// The page size of lists.
const PAGE: usize = 500;

impl ApiServer {
    /// Deletes the Events that were last written longer ago than their lifetime; returns how many.
    ///
    /// The host of a server calls this periodically; nothing else deletes Events by age.
    pub async fn delete_expired_events(&self) -> Result<usize, Refusal> {
        let Some(kind) = kinds().resource("", "v1", "events") else { return Ok(0) };
        let lifetime = i64::try_from(self.settings.event_lifetime.as_secs()).unwrap_or(i64::MAX);
        let now = self.environment.now();
        let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
        let mut swept = 0;
        loop {
            let page = self.objects.store.list(request.clone()).await.map_err(ApiError::from)?;
            for item in page.items {
                // Most events are young. The time of the last write matters only for the others.
                let created = storage_codec::decode_creation(kind, &item.value, item.revision)?;
                if !lifecycle::is_expired(&created, now, lifetime) {
                    continue;
                }
                let event = storage_codec::decode(kind, &item.value, item.revision)?;
                if !lifecycle::is_expired(&event, now, lifetime) {
                    continue;
                }
                match self.objects.store.commit(Transaction::delete(item.key, item.revision)).await {
                    Ok(_) => swept += 1,
                    // It was written meanwhile and has not expired, or it is deleted already.
                    Err(Error::Conflict { .. }) => {}
                    Err(error) => return Err(ApiError::from(error).into()),
                }
            }
            match page.next {
                Some(next) => {
                    request.start = Some(next);
                    // A store in memory is always ready, and there may be many thousand events.
                    tokio::task::yield_now().await;
                }
                None => return Ok(swept),
            }
        }
    }
}
