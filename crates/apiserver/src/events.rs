//! Events go when their time is over.

use gantry_registry::kinds::kinds;
use gantry_registry::{Refusal, lifecycle};
use gantry_store::{Error, ListRequest, Transaction};

use crate::ApiServer;
use crate::objects::{Objects, failed};
use crate::served;

/// How many events are read at a time.
const PAGE: usize = 500;

impl ApiServer {
    /// Removes the events that nobody has written for as long as they live, and says how many these were.
    ///
    /// Whoever runs a server calls this every now and then; nothing else removes events by their age.
    pub async fn sweep_events(&self) -> Result<usize, Refusal> {
        let Some(kind) = kinds().resource("", "v1", "events") else { return Ok(0) };
        let lifetime = i64::try_from(self.settings.event_lifetime.as_secs()).unwrap_or(i64::MAX);
        let now = self.surroundings.now();
        let mut request = ListRequest::all(Objects::prefix(kind, None)).limit(PAGE);
        let mut swept = 0;
        loop {
            let page = self.objects.store.list(request.clone()).await.map_err(|error| failed(&error))?;
            for item in page.items {
                let event = served::parse(kind, &item.value, item.revision)?;
                if !lifecycle::is_expired(&event, now, lifetime) {
                    continue;
                }
                match self.objects.store.commit(Transaction::delete(item.key, item.revision)).await {
                    Ok(_) => swept += 1,
                    // Somebody wrote it just now, so its time is not over; or it is gone already.
                    Err(Error::Conflict { .. }) => {}
                    Err(error) => return Err(failed(&error)),
                }
            }
            match page.next {
                Some(next) => request.start = Some(next),
                None => return Ok(swept),
            }
        }
    }
}
