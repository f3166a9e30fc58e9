//! Opens the store of the options.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::Store;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store_embedded::{EmbeddedStore, Options};

use crate::error::StartError;
use crate::options::Storage;

pub(crate) enum OpenStore {
    Embedded(Arc<EmbeddedStore>),
    Other(Arc<dyn Store>),
}

/// How often the disk's state is checked.
const CHECK_EVERY: Duration = Duration::from_secs(10);

impl OpenStore {
    pub(crate) fn open(storage: &Storage) -> Result<Self, StartError> {
        match storage {
            Storage::Memory => Ok(Self::Other(Arc::new(MemoryStore::new(HistoryLimits::default())))),
            Storage::Directory(directory) => {
                let opened = EmbeddedStore::open(directory, Options::default());
                opened.map(|store| Self::Embedded(Arc::new(store))).map_err(StartError::Directory)
            }
            Storage::Other(store) | Storage::Own(store) => Ok(Self::Other(Arc::clone(store))),
        }
    }

    pub(crate) fn port(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Other(store) => store.clone(),
        }
    }

    /// Logs new failures of the disk; ends when the store is dropped.
    pub(crate) async fn watch_disk(self: Arc<Self>) {
        let Self::Embedded(store) = &*self else { return };
        let store = Arc::downgrade(store);
        drop(self);
        let mut known = None;
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let Some(store) = store.upgrade() else { return };
            let failure = store.last_failure();
            if let Some(failure) = failure.as_ref().filter(|_| failure != known) {
                tracing::error!("{failure}");
            }
            known = failure;
        }
    }

    /// Unlocks the directory, even if references to the store remain.
    pub(crate) fn close(&self) {
        if let Self::Embedded(store) = self {
            store.close();
        }
    }
}
