//! The store: the port's methods over the shared state.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::{
    Answer, Bounds, Error, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};

use crate::cluster::Cluster;
use crate::fault::{EtcdRefusal, Fault};
use crate::mark::Marks;
use crate::read::{self, Floor};
use crate::settings::{BadSettings, LostAnswers, Settings};
use crate::write::Writer;
use crate::{compactor, watch};

/// A store on an etcd cluster.
///
/// It needs a tokio runtime: tasks follow watches and compact history.
#[derive(Debug)]
pub struct EtcdStore {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) floor: Arc<Floor>,
    marks: Marks,
    lost_answers: LostAnswers,
    resolve_timeout: Duration,
}

impl EtcdStore {
    /// Creates a store without connecting to etcd; the first request does.
    pub fn new(settings: &Settings) -> Result<Self, BadSettings> {
        let shared = Shared {
            cluster: Arc::new(Cluster::new(settings)?),
            floor: Arc::default(),
            marks: Marks::new(),
            lost_answers: settings.lost_answers,
            resolve_timeout: settings.resolve_timeout,
        };
        let shared = Arc::new(shared);
        if let Some(interval) = settings.compact_every {
            tokio::spawn(compactor::run(Arc::downgrade(&shared), interval));
        }
        Ok(Self { shared })
    }

    /// Waits until etcd responds, or returns the reason why it does not.
    ///
    /// The future is boxed so that it is compiled here, not in the crate that awaits it.
    pub fn ready(&self) -> Answer<'_, ()> {
        Box::pin(self.is_ready())
    }

    async fn is_ready(&self) -> Result<(), Error> {
        let Shared { cluster, marks, lost_answers, .. } = &*self.shared;
        read::current(cluster).await?;
        if *lost_answers == LostAnswers::Report {
            return Ok(());
        }
        // The first mark is created here, so that the first write takes the next revision like all later ones.
        match marks.take(cluster, cluster.deadline()).await {
            Ok(mark) => marks.give_back(mark),
            // Reads and deletes continue, and deletes free space.
            Err(Fault::Refused(EtcdRefusal::NoSpace)) => {}
            Err(fault) => return Err(fault.into_error()),
        }
        Ok(())
    }
}

impl Store for EtcdStore {
    fn commits_both_or_neither(&self) -> bool {
        false
    }

    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(read::get(&self.shared.cluster, key))
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(read::list(&self.shared.cluster, &self.shared.floor, request))
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        let Shared { cluster, marks, lost_answers, resolve_timeout, .. } = &*self.shared;
        let (lost_answers, resolve_timeout) = (*lost_answers, *resolve_timeout);
        let writer = Writer { cluster, marks, lost_answers, resolve_timeout };
        Box::pin(async move { writer.commit(&transaction).await })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(watch::start(&self.shared.cluster, &self.shared.floor, prefix, after))
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        Box::pin(read::compact(&self.shared.cluster, &self.shared.floor, through))
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        Box::pin(read::bounds(&self.shared.cluster, &self.shared.floor))
    }
}
