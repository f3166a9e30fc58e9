//! The port over the engine: reads from memory, writes through the writer.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use gantry_store::memory::{Live, Usage};
use gantry_store::{
    Answer, Bounds, Error, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction,
    VALUE_BYTES_MAX, Watch,
};
use tokio::sync::oneshot;

use crate::disk::{Directory, Disk};
use crate::engine::Engine;
use crate::error::OpenError;
use crate::keeper::{self, Trouble};
use crate::lock::DirectoryLock;
use crate::options::Options;
use crate::upkeep::{Chores, Upkeep};
use crate::writer::{self, Queue, Request};

/// A durable store in a directory of its own.
///
/// Dropping it waits for what is being written and leaves the directory to the next one.
#[derive(Debug)]
pub struct EmbeddedStore {
    live: Arc<Live>,
    queue: Arc<Queue>,
    upkeep: Arc<Upkeep>,
    trouble: Trouble,
    stopped: Arc<OnceLock<String>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    // Last, so that it is given back after everything else has ended.
    lock: Mutex<Option<DirectoryLock>>,
}

impl EmbeddedStore {
    /// Opens the store in a directory, which is created if it does not exist.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let path = directory.as_ref();
        let disk = Directory::create(path).map_err(OpenError::writing(path))?;
        let lock = DirectoryLock::take(path)?;
        let store = Self::start(Arc::new(disk), options)?;
        *store.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock);
        Ok(store)
    }

    /// Opens the store on any disk, locked by nobody.
    pub(crate) fn start(disk: Arc<dyn Disk>, options: Options) -> Result<Self, OpenError> {
        let engine = Engine::open(disk, options)?;
        let (live, upkeep) = (Arc::clone(engine.live()), Arc::clone(engine.upkeep()));
        let (queue, stopped) = (Arc::<Queue>::default(), Arc::<OnceLock<String>>::default());
        let starting = || OpenError::io("starting the store's threads");
        let writer = writer::start(engine, Arc::clone(&queue), Arc::clone(&stopped)).map_err(starting())?;
        let (threads, lock) = (Mutex::new(vec![writer]), Mutex::default());
        let store = Self { live, queue, upkeep, trouble: Trouble::default(), stopped, threads, lock };
        let keeper =
            keeper::start(Arc::clone(&store.upkeep), Arc::clone(&store.trouble)).map_err(starting())?;
        store.threads.lock().unwrap_or_else(PoisonError::into_inner).push(keeper);
        Ok(store)
    }

    /// How much the store holds.
    pub fn usage(&self) -> Usage {
        self.live.usage()
    }

    /// What is wrong with the disk, for people: why nothing can be written, or what could not be tidied up lately.
    pub fn trouble(&self) -> Option<String> {
        if let Some(why) = self.stopped.get() {
            return Some(why.clone());
        }
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes what waits, ends every watch, and leaves the directory to the next one. Later writes are refused.
    pub fn close(&self) {
        self.queue.close();
        self.upkeep.call(Chores::Quit);
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread that panicked has said so; there is nothing to add.
            let _ = thread.join();
        }
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Sends the writer a request and waits for its answer.
    async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Request,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.push(request(answer))?;
        let ended = |_| Error::OutcomeUnknown { why: "the store's writer ended".to_owned() };
        answered.await.map_err(ended)?
    }
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
            self.ask(|answer| Request::Commit { transaction, answer }).await
        })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(async move { self.live.watch(prefix, after) })
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        Box::pin(self.ask(move |answer| Request::Compact { through, answer }))
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        Box::pin(async { Ok(self.live.bounds()) })
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        self.close();
    }
}
