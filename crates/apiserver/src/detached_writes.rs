//! Runs writes to their end, even if the client does not wait for the response.
//!
//! hyper drops the future of a request when its connection ends, and a timeout drops it as well. A write that was
//! interrupted between two commits would be incomplete, so the rest of it is run by a separate task.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::watch;

/// Counts the writes whose client no longer waits.
#[derive(Debug, Default)]
pub(crate) struct DetachedWrites(watch::Sender<usize>);

/// A write. Dropping it after it has begun detaches it.
pub(crate) struct DetachableWrite<T: Send + 'static> {
    /// `None` while it is polled, and after its end.
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    /// The runtime that runs the rest; `None` until the write has begun.
    runtime: Option<Handle>,
    detached: Arc<DetachedWrites>,
}

/// Counts a detached write until it is dropped.
struct DetachedCount(Arc<DetachedWrites>);

impl DetachedWrites {
    /// Returns the future of a write that is detached when it is dropped.
    pub(crate) fn detachable<T: Send + 'static>(
        self: &Arc<Self>,
        write: impl Future<Output = T> + Send + 'static,
    ) -> DetachableWrite<T> {
        DetachableWrite { future: Some(Box::pin(write)), runtime: None, detached: Arc::clone(self) }
    }

    /// Returns when no detached write is running.
    pub(crate) async fn ended(&self) {
        // The sender is not dropped while this borrows it.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl<T: Send + 'static> Future for DetachableWrite<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // A future that panics must not be polled again, so it is put back only if it is pending.
        let Some(mut future) = self.future.take() else { return Poll::Pending };
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.runtime = Handle::try_current().ok();
            self.future = Some(future);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for DetachableWrite<T> {
    fn drop(&mut self) {
        if let (Some(future), Some(runtime)) = (self.future.take(), self.runtime.take()) {
            let count = DetachedCount::new(Arc::clone(&self.detached));
            runtime.spawn(async move {
                drop(future.await);
                drop(count);
            });
        }
    }
}

impl DetachedCount {
    fn new(detached: Arc<DetachedWrites>) -> Self {
        detached.0.send_modify(|count| *count += 1);
        Self(detached)
    }
}

impl Drop for DetachedCount {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    /// A write of two steps, with a wait between them.
    fn write(steps: &Arc<AtomicUsize>, go_on: &Arc<Notify>) -> impl Future<Output = ()> + Send + 'static {
        let (steps, go_on) = (Arc::clone(steps), Arc::clone(go_on));
        async move {
            steps.fetch_add(1, Ordering::SeqCst);
            go_on.notified().await;
            steps.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn a_write_that_has_begun_is_finished_after_its_client_disconnects() {
        let (writes, steps, go_on) = (Arc::<DetachedWrites>::default(), Arc::default(), Arc::default());
        let mut begun = Box::pin(writes.detachable(write(&steps, &go_on)));
        assert!(begun.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
        drop(begun);
        assert_eq!((steps.load(Ordering::SeqCst), *writes.0.borrow()), (1, 1));
        go_on.notify_one();
        writes.ended().await;
        assert_eq!(steps.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_write_that_has_not_begun_is_dropped() {
        let (writes, steps, go_on) = (Arc::<DetachedWrites>::default(), Arc::default(), Arc::default());
        drop(writes.detachable(write(&steps, &go_on)));
        writes.ended().await;
        assert_eq!(steps.load(Ordering::SeqCst), 0);
    }
}
