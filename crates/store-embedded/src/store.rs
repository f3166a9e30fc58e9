//! The port over the engine: reads from memory, writes through the writer thread.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use gantry_store::memory::{Live, Usage};
use gantry_store::{
    Answer, Bounds, Error, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction,
    VALUE_BYTES_MAX, Watch,
};
use tokio::sync::oneshot;

use crate::disk::{Directory, Disk};
use crate::disk_health::DiskHealth;
use crate::engine::Engine;
use crate::error::OpenError;
use crate::lock::{self, DirectoryLock};
use crate::maintenance::{Maintenance, MaintenanceRequest};
use crate::maintenance_thread;
use crate::options::Options;
use crate::segment;
use crate::snapshot;
use crate::writer::{self, Queue, Request};

/// A durable store in a directory.
///
/// Dropping it waits for writes in progress and unlocks the directory.
#[derive(Debug)]
pub struct EmbeddedStore {
    live: Arc<Live>,
    queue: Arc<Queue>,
    maintenance: Arc<Maintenance>,
    disk_health: Arc<DiskHealth>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    // Last, so that it is released after everything else has ended.
    lock: Mutex<Option<DirectoryLock>>,
}

impl EmbeddedStore {
    /// Opens the store in a directory, which is created if it does not exist.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let path = directory.as_ref();
        let disk = Directory::create(path).map_err(OpenError::writing(path))?;
        let lock = DirectoryLock::take(path)?;
        disk.restrict_files(is_store_file).map_err(OpenError::writing(path))?;
        let store = Self::start(Arc::new(disk), options)?;
        *store.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock);
        Ok(store)
    }

    /// Opens the store on any disk, without a lock.
    pub(crate) fn start(disk: Arc<dyn Disk>, options: Options) -> Result<Self, OpenError> {
        let engine = Engine::open(disk, options)?;
        let (live, maintenance) = (Arc::clone(engine.live()), Arc::clone(engine.maintenance()));
        let (queue, disk_health) = (Arc::<Queue>::default(), Arc::<DiskHealth>::default());
        let starting = || OpenError::io("starting the store's threads");
        let writer =
            writer::start(engine, Arc::clone(&queue), Arc::clone(&disk_health)).map_err(starting())?;
        let (threads, lock) = (Mutex::new(vec![writer]), Mutex::default());
        let store = Self { live, queue, maintenance, disk_health, threads, lock };
        let maintenance_thread =
            maintenance_thread::start(Arc::clone(&store.maintenance), Arc::clone(&store.disk_health))
                .map_err(starting())?;
        store.threads.lock().unwrap_or_else(PoisonError::into_inner).push(maintenance_thread);
        Ok(store)
    }

    /// How much the store holds.
    pub fn usage(&self) -> Usage {
        self.live.usage()
    }

    /// The state of the disk: why the last write failed, or why the last maintenance did.
    pub fn last_failure(&self) -> Option<String> {
        self.disk_health.failure()
    }

    /// Completes queued writes, ends all watches, and unlocks the directory. Later writes are refused.
    pub fn close(&self) {
        self.queue.close();
        self.maintenance.request_run(MaintenanceRequest::Quit);
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A panic of a thread is reported by the thread itself.
            let _ = thread.join();
        }
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Sends the writer a request and waits for its response.
    async fn send_to_writer<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Request,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.push(request(answer))?;
        let ended = |_| Error::OutcomeUnknown { why: "the store's writer ended".to_owned() };
        answered.await.map_err(ended)?
    }
}

/// Whether a file of this name belongs to the store; the directory may contain others.
fn is_store_file(name: &str) -> bool {
    let name =
        [".new", ".damaged"].iter().fold(name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name));
    name == lock::NAME || segment::number_of(name).is_some() || snapshot::revision_of(name).is_some()
}

impl Store for EmbeddedStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(async { Ok(self.live.get(key)) })
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async move { self.live.list(&request) })
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(async move {
            if transaction.bytes() > VALUE_BYTES_MAX {
                return Err(Error::TooLarge { bytes_max: VALUE_BYTES_MAX });
            }
            let transaction = transaction.detached();
            self.send_to_writer(|answer| Request::Commit { transaction, answer }).await
        })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(async move { self.live.watch(prefix, after) })
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        Box::pin(self.send_to_writer(move |answer| Request::Compact { through, answer }))
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        Box::pin(async { Ok(self.live.bounds()) })
    }

    fn health(&self) -> Answer<'_, ()> {
        let failure =
            if self.queue.is_closed() { Some(writer::closed()) } else { self.disk_health.write_failure() };
        Box::pin(async { failure.map_or(Ok(()), Err) })
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        self.close();
    }
}
