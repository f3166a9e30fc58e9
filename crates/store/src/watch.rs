//! A running watch, as its owner holds it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::{Error, Event, Revision};

/// What a watch says next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A key under the prefix changed.
    Change(Arc<Event>),
    /// Every change up to and including this revision has been told.
    Progress(Revision),
}

/// A stream of [`Notice`]s about one prefix.
///
/// Changes come in the order of their revisions, without gaps and each once. Changes of one revision follow each other
/// without waiting, so whoever drains what is ready has whole revisions, and may resume after the last of them.
/// An error is the last item. Dropping the watch ends it.
pub struct Watch(Box<dyn Watching>);

/// What a backend implements to be a [`Watch`].
pub trait Watching: Send {
    /// The next notice, or the error that ends the watch, then `None` for ever.
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>>;

    /// Asks for a [`Notice::Progress`] at or behind the revision the store has now.
    fn request_progress(&mut self);
}

impl Watch {
    /// Wraps a backend's watch.
    pub fn new(watching: impl Watching + 'static) -> Self {
        Self(Box::new(watching))
    }

    /// Waits for what comes next; `None` after the watch has ended.
    pub async fn next(&mut self) -> Option<Result<Notice, Error>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// What comes next if it is there already; else the task is woken when it is.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        self.0.poll_notice(context)
    }

    /// Asks for a progress mark.
    ///
    /// After the changes that are already waiting, the watch yields a [`Notice::Progress`] whose revision is at least
    /// the one the store had when this was called. Several requests may be answered by one mark, and a backend may
    /// send marks nobody asked for. A watch that starts in the future stays silent until the store gets there.
    pub fn request_progress(&mut self) {
        self.0.request_progress();
    }
}

impl Stream for Watch {
    type Item = Result<Notice, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}
