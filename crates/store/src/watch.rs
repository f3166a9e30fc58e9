//! A running watch.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::{Error, Event, Revision};

/// An item of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A key under the prefix changed.
    Change(Arc<Event>),
    /// All changes up to and including this revision have been returned.
    Progress(Revision),
}

/// A stream of [`Notice`]s about one prefix.
///
/// Changes are in the order of their revisions, without gaps and each once. Changes of one revision follow each other
/// without waiting, so a reader that drains what is ready has whole revisions, and may resume after the last of them.
/// An error is the last item. Dropping the watch ends it.
pub struct Watch(Box<dyn Watching>);

/// A backend's implementation of a [`Watch`].
pub trait Watching: Send {
    /// The next notice, or the error that ends the watch; from then on `None`.
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>>;

    /// Requests a [`Notice::Progress`] at or after the current revision.
    fn request_progress(&mut self);
}

impl Watch {
    /// Wraps a backend's watch.
    pub fn new(watching: impl Watching + 'static) -> Self {
        Self(Box::new(watching))
    }

    /// The next item; `None` after the watch has ended.
    pub async fn next(&mut self) -> Option<Result<Notice, Error>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// The next item if it is ready; otherwise the task is woken when it is.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        self.0.poll_notice(context)
    }

    /// Requests a progress notice.
    ///
    /// After the changes that are already queued, the watch yields a [`Notice::Progress`] whose revision is at least
    /// the current one at the time of this call. One notice may serve several requests, and a backend may send notices
    /// without a request. A watch that starts in the future yields nothing until the store reaches that revision.
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
