//! The store that was asked for, opened.

use std::sync::Arc;
use std::time::Duration;

use gantry_runtime::chain;
use gantry_store::Store;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store_embedded::{EmbeddedStore, OpenError, Options};
use gantry_store_etcd::{EtcdStore, Settings};

use super::flags::Keeping;

/// A store that is ready.
pub(super) enum Opened {
    Memory(Arc<MemoryStore>),
    Directory(Arc<EmbeddedStore>),
    Etcd(Arc<EtcdStore>),
}

/// How often the disk's health is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);

impl Opened {
    /// Opens the store that was asked for, or says what is wrong with it.
    pub(super) async fn open(keeping: &Keeping) -> Result<Self, String> {
        match keeping {
            Keeping::Directory(directory) => {
                let opened = EmbeddedStore::open(directory, Options::default());
                opened.map(|store| Self::Directory(Arc::new(store))).map_err(|error| explain(&error))
            }
            Keeping::Memory => Ok(Self::Memory(Arc::new(MemoryStore::new(HistoryLimits::default())))),
            Keeping::Etcd(urls) => etcd(urls).await.map(|store| Self::Etcd(Arc::new(store))),
        }
    }

    /// Logs what is wrong with the disk, when it goes wrong.
    pub(super) fn look_after(&self) {
        let Self::Directory(store) = self else { return };
        let store = Arc::downgrade(store);
        tokio::spawn(async move {
            let mut known = None;
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                let Some(store) = store.upgrade() else { return };
                let trouble = store.trouble();
                if let Some(trouble) = trouble.as_ref().filter(|_| trouble != known) {
                    tracing::error!("{trouble}");
                }
                known = trouble;
            }
        });
    }

    pub(super) fn port(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Directory(store) => store.clone(),
            Self::Etcd(store) => store.clone(),
        }
    }

    /// Leaves the directory to the next one, whoever else still holds the store.
    pub(super) fn close(&self) {
        if let Self::Directory(store) = self {
            store.close();
        }
    }
}

async fn etcd(urls: &[String]) -> Result<EtcdStore, String> {
    let store = EtcdStore::new(&Settings::new(urls)).map_err(|error| format!("--etcd: {}", chain(&error)))?;
    let unreachable = |error| {
        let urls = urls.join(",");
        format!("--etcd {urls}: {error}\nhint: see that etcd runs, and that these are its client URLs")
    };
    store.ready().await.map_err(unreachable)?;
    Ok(store)
}

fn explain(error: &OpenError) -> String {
    let hint = match error {
        OpenError::InUse { .. } => "\nhint: stop that process, or name another directory",
        OpenError::Io { .. } => "\nhint: name a directory that you may write to",
        OpenError::Corrupt(_) | OpenError::NotEmpty { .. } => "",
    };
    format!("--data-dir: {}{hint}", chain(error))
}
