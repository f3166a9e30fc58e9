//! The background thread of the store: prepares the next segment, writes snapshots and removes files.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::disk_health::DiskHealth;
use crate::maintenance::{Maintenance, MaintenanceRequest};

/// When to retry after a failure; the log grows meanwhile, and a full disk may have space again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Starts the thread; it ends on [`MaintenanceRequest::Quit`].
pub(crate) fn start(
    maintenance: Arc<Maintenance>,
    health: Arc<DiskHealth>,
) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("store-maintain".to_owned()).spawn(move || {
        let mut retry_after = None;
        while maintenance.wait_for_request(retry_after) != MaintenanceRequest::Quit {
            let failed = run_tasks(&maintenance).err();
            retry_after = failed.as_ref().map(|_| RETRY_AFTER);
            health.record_maintenance(failed);
        }
    })
}

fn run_tasks(maintenance: &Maintenance) -> Result<(), String> {
    maintenance
        .prepare_spare()
        .map_err(|error| format!("the next log segment could not be made: {error}"))?;
    if maintenance.is_snapshot_due() {
        maintenance.snapshot().map_err(|error| error.to_string())?;
    }
    Ok(())
}
