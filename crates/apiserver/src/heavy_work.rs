//! Runs work on large bodies and objects outside of the threads that serve connections, with a limit on how much runs
//! at a time.
//!
//! Decoding, validating and encoding a few megabytes takes many milliseconds in one go. On a worker thread of the
//! runtime, all other requests of that thread would wait; and every such request takes many times the memory of its
//! body. The runtime's other tasks are therefore moved to another thread meanwhile, and there are only a few slots.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// Larger bodies and objects are heavy.
pub(crate) const HEAVY_BYTES: usize = 128 << 10;

/// With fewer slots, one slow request would block all others.
const SLOTS_MIN: usize = 2;

tokio::task_local! {
    /// Set while a request has a slot, so that it does not wait for a second one.
    static HAS_SLOT: ();
}

/// The slots of heavy work.
#[derive(Debug)]
pub(crate) struct HeavyWork {
    slots: Arc<Semaphore>,
    /// The slots of bodies that are encoded while they are sent.
    body_slots: Arc<Semaphore>,
}

/// Waits for a slot to encode a part of a body.
///
/// A slot is held only while that part is encoded. The queue of the semaphore is not used: a body that a client does
/// not read is not polled, and would keep a slot that it was given.
#[derive(Debug, Default)]
pub(crate) struct BodySlot {
    retry: Option<Pin<Box<Sleep>>>,
}

/// How long a body waits before it tries to get a slot again.
const BODY_SLOT_RETRY: Duration = Duration::from_millis(10);

/// A slot, until it is dropped.
#[derive(Debug)]
pub(crate) struct HeavySlot(#[expect(dead_code, reason = "dropping it frees the slot")] OwnedSemaphorePermit);

impl Default for HeavyWork {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(SLOTS_MIN, usize::from);
        let slots = || Arc::new(Semaphore::new(cores.max(SLOTS_MIN)));
        Self { slots: slots(), body_slots: slots() }
    }
}

impl HeavyWork {
    /// Computes a value from this many bytes.
    pub(crate) async fn run<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        if bytes <= HEAVY_BYTES {
            return work();
        }
        let _slot = self.slot().await;
        off_worker(work)
    }

    /// Like [`Self::run`], for a large result: its slot is kept with it.
    pub(crate) async fn run_keeping_slot<T>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T,
    ) -> (T, Option<HeavySlot>) {
        if bytes <= HEAVY_BYTES {
            return (work(), None);
        }
        let slot = self.slot().await;
        (off_worker(work), slot)
    }

    /// Awaits a future that computes with this many bytes; it has its slot to the end.
    pub(crate) async fn run_future<F: Future>(&self, bytes: usize, future: F) -> F::Output {
        if bytes <= HEAVY_BYTES {
            return future.await;
        }
        let _slot = self.slot().await;
        let mut future = pin!(future);
        HAS_SLOT.scope((), poll_fn(|context| off_worker(|| future.as_mut().poll(context)))).await
    }

    /// Waits for a slot; `None` if the request has one.
    async fn slot(&self) -> Option<HeavySlot> {
        if HAS_SLOT.try_with(|()| ()).is_ok() {
            return None;
        }
        // The semaphore is never closed.
        Arc::clone(&self.slots).acquire_owned().await.ok().map(HeavySlot)
    }
}

impl BodySlot {
    /// Returns a slot if one is free; otherwise wakes the task later.
    pub(crate) fn poll(&mut self, work: &HeavyWork, context: &mut Context<'_>) -> Poll<HeavySlot> {
        loop {
            if let Ok(slot) = Arc::clone(&work.body_slots).try_acquire_owned() {
                self.retry = None;
                return Poll::Ready(HeavySlot(slot));
            }
            let retry = self.retry.get_or_insert_with(|| Box::pin(sleep(BODY_SLOT_RETRY)));
            std::task::ready!(retry.as_mut().poll(context));
            self.retry = None;
        }
    }
}

/// Computes a value while other tasks of this thread run on another one, if the runtime has several.
pub(crate) fn off_worker<T>(work: impl FnOnce() -> T) -> T {
    let is_multi_threaded =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_multi_threaded { tokio::task::block_in_place(work) } else { work() }
}

/// Like [`off_worker`], for this many bytes; small work runs directly.
pub(crate) fn off_worker_if_heavy<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes > HEAVY_BYTES { off_worker(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    /// On one worker thread, a task continues while another one computes.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_continue_during_heavy_work() {
        static IS_ANSWERED: AtomicBool = AtomicBool::new(false);
        let computing = tokio::spawn(async {
            let work = || {
                for _ in 0..10_000 {
                    if IS_ANSWERED.load(Ordering::Relaxed) {
                        return true;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                false
            };
            HeavyWork::default().run(HEAVY_BYTES + 1, work).await
        });
        let quick = tokio::spawn(async { IS_ANSWERED.store(true, Ordering::Relaxed) });
        assert!(computing.await.unwrap(), "the short task ran before the long one ended");
        quick.await.unwrap();
    }

    /// Many watches of large objects must not be encoded at the same time.
    #[tokio::test(start_paused = true)]
    async fn bodies_wait_for_a_slot() {
        let work = HeavyWork { body_slots: Arc::new(Semaphore::new(1)), ..HeavyWork::default() };
        let (mut first, mut second) = (BodySlot::default(), BodySlot::default());
        let slot = poll_fn(|context| first.poll(&work, context)).await;
        let waiting = poll_fn(|context| Poll::Ready(second.poll(&work, context).is_pending())).await;
        assert!(waiting);
        drop(slot);
        drop(poll_fn(|context| second.poll(&work, context)).await);
        assert_eq!(work.body_slots.available_permits(), 1, "no slot is kept");
    }

    /// A request with a slot needs no second one, even if no other is free.
    #[tokio::test]
    async fn a_request_needs_one_slot() {
        let work = HeavyWork { slots: Arc::new(Semaphore::new(1)), ..HeavyWork::default() };
        let inner = work.run_future(HEAVY_BYTES + 1, async {
            assert_eq!(work.slots.available_permits(), 0);
            work.run(HEAVY_BYTES + 1, || 7).await
        });
        assert_eq!(work.run_future(HEAVY_BYTES + 1, inner).await, 7);
        assert_eq!(work.slots.available_permits(), 1);
        assert_eq!(work.run(HEAVY_BYTES, || 8).await, 8);
    }
}
