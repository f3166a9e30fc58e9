//! The store that was asked for, opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gantry_runtime::chain;
use gantry_store::Store;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store_embedded::{EmbeddedStore, OpenError, Options};
use gantry_store_etcd::{BadSettings, EtcdStore, Settings, Tls};

use super::flags::{Etcd, EtcdFiles, Keeping};

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
            Keeping::Etcd(named) => etcd(named).await.map(|store| Self::Etcd(Arc::new(store))),
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

async fn etcd(named: &Etcd) -> Result<EtcdStore, String> {
    let settings = Settings { tls: tls(&named.files)?, ..Settings::new(&named.urls) };
    let store = EtcdStore::new(&settings).map_err(|error| {
        let hint = match error {
            BadSettings::Untrusted { .. } => "\nhint: name the authority's certificate with --etcd-cafile",
            _ => "",
        };
        format!("--etcd: {}{hint}", chain(&error))
    })?;
    let urls = &named.urls;
    let unreachable = |error| {
        let urls = urls.join(",");
        format!("--etcd {urls}: {error}\nhint: see that etcd runs, and that these are its client URLs")
    };
    store.ready().await.map_err(unreachable)?;
    Ok(store)
}

/// Trust in etcd, and ours in its eyes; none for an etcd without TLS.
fn tls(files: &EtcdFiles) -> Result<Option<Tls>, String> {
    let read = |flag: &str, file: &PathBuf| {
        std::fs::read(file).map_err(|error| format!("{flag} {}: {error}", file.display()))
    };
    let Some(authorities) = &files.authorities else { return Ok(None) };
    let identity = match (&files.certificate, &files.key) {
        (Some(certificate), Some(key)) => {
            Some((read("--etcd-certfile", certificate)?, read("--etcd-keyfile", key)?))
        }
        _ => None,
    };
    Ok(Some(Tls { authorities: read("--etcd-cafile", authorities)?, identity, server_name: None }))
}

fn explain(error: &OpenError) -> String {
    let hint = match error {
        OpenError::InUse { .. } => "\nhint: stop that process, or name another directory",
        OpenError::Io { .. } => "\nhint: name a directory that you may write to",
        OpenError::Corrupt(_) | OpenError::NotEmpty { .. } => "",
    };
    format!("--data-dir: {}{hint}", chain(error))
}
