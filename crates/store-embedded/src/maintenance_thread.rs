//! The thread that does what nobody should have to wait for: the next segment, snapshots, removals.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::upkeep::{Chores, Upkeep};

/// What the keeper could not do, last time it tried.
pub(crate) type Trouble = Arc<Mutex<Option<String>>>;

/// When to try again what failed; the log grows meanwhile, and a full disk may have room again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Starts the keeper; it ends when it is called to quit.
pub(crate) fn start(upkeep: Arc<Upkeep>, trouble: Trouble) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("store-keeper".to_owned()).spawn(move || {
        let mut again_after = None;
        while upkeep.wait_for_call(again_after) != Chores::Quit {
            let failed = do_chores(&upkeep).err();
            again_after = failed.as_ref().map(|_| AGAIN_AFTER);
            *trouble.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        }
    })
}

fn do_chores(upkeep: &Upkeep) -> Result<(), String> {
    upkeep.prepare_spare().map_err(|error| format!("the next log segment could not be made: {error}"))?;
    if upkeep.is_snapshot_due() {
        upkeep.snapshot().map_err(|error| error.to_string())?;
    }
    Ok(())
}
