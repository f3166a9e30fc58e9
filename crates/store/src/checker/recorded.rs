//! A store wrapper that records the observations of clients.

use std::sync::Arc;
use std::task::{Context, Poll};

use crate::checker::{HistoryRecorder, Observation};
use crate::port::{Answer, Bounds, Fetched, ListRequest, Page, Store};
use crate::watch::Watching;
use crate::{Error, Key, Notice, Prefix, Revision, Transaction, Watch};

/// A wrapper around the store under test.
#[derive(Debug)]
pub struct Recorded {
    store: Arc<dyn Store>,
    recorder: Arc<HistoryRecorder>,
}

/// A watch that is recorded when it ends.
struct RecordedWatch {
    watch: Watch,
    recorder: Arc<HistoryRecorder>,
    began: u64,
    prefix: Prefix,
    after: Revision,
    notices: Vec<Notice>,
}

impl Recorded {
    /// Records the observations of clients of the store.
    pub fn new(store: Arc<dyn Store>, recorder: &Arc<HistoryRecorder>) -> Arc<Self> {
        Arc::new(Self { store, recorder: Arc::clone(recorder) })
    }
}

impl Store for Recorded {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(async {
            let began = self.recorder.tick();
            let fetched = self.store.get(key).await?;
            self.recorder.record(began, Observation::Get { key: key.clone(), fetched: fetched.clone() });
            Ok(fetched)
        })
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async {
            let began = self.recorder.tick();
            let page = self.store.list(request.clone()).await?;
            self.recorder.record(began, Observation::List { request, page: page.clone() });
            Ok(page)
        })
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(async {
            let began = self.recorder.tick();
            let answer = self.store.commit(transaction.clone()).await;
            self.recorder.record(began, Observation::Commit { transaction, answer: answer.clone() });
            answer
        })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(async move {
            let began = self.recorder.tick();
            let watch = self.store.watch(prefix.clone(), after).await?;
            let recorder = Arc::clone(&self.recorder);
            Ok(Watch::new(RecordedWatch { watch, recorder, began, prefix, after, notices: Vec::new() }))
        })
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.store.compact(through)
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        self.store.bounds()
    }
}

impl Watching for RecordedWatch {
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        let polled = std::pin::pin!(self.watch.next()).poll(context);
        if let Poll::Ready(Some(Ok(notice))) = &polled {
            self.notices.push(notice.clone());
        }
        polled
    }

    fn request_progress(&mut self) {
        self.watch.request_progress();
    }
}

impl Drop for RecordedWatch {
    fn drop(&mut self) {
        let notices = std::mem::take(&mut self.notices);
        let seen = Observation::Watch { prefix: self.prefix.clone(), after: self.after, notices };
        self.recorder.record(self.began, seen);
    }
}
