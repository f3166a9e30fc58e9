//! The store that the options ask for, opened.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::Store;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store_embedded::{EmbeddedStore, Options};

use crate::error::StartError;
use crate::options::Storage;

/// A store that is ready.
pub(crate) enum Opened {
    Embedded(Arc<EmbeddedStore>),
    Other(Arc<dyn Store>),
}

/// How often the disk's health is checked.
const CHECK_EVERY: Duration = Duration::from_secs(10);

impl Opened {
    pub(crate) fn open(storage: &Storage) -> Result<Self, StartError> {
        match storage {
            Storage::Memory => Ok(Self::Other(Arc::new(MemoryStore::new(HistoryLimits::default())))),
            Storage::Directory(directory) => {
                let opened = EmbeddedStore::open(directory, Options::default());
                opened.map(|store| Self::Embedded(Arc::new(store))).map_err(StartError::Directory)
            }
            Storage::Other(store) => Ok(Self::Other(Arc::clone(store))),
        }
    }

    pub(crate) fn port(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Other(store) => store.clone(),
        }
    }

    /// Logs what is wrong with the disk, when it goes wrong; ends by itself when the store is dropped.
    pub(crate) async fn watch_disk(self: Arc<Self>) {
        let Self::Embedded(store) = &*self else { return };
        let store = Arc::downgrade(store);
        drop(self);
        let mut known = None;
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let Some(store) = store.upgrade() else { return };
            let trouble = store.last_failure();
            if let Some(trouble) = trouble.as_ref().filter(|_| trouble != known) {
                tracing::error!("{trouble}");
            }
            known = trouble;
        }
    }

    /// Releases the directory, even if references to the store remain.
    pub(crate) fn close(&self) {
        if let Self::Embedded(store) = self {
            store.close();
        }
    }
}
