//! A condition that becomes true once.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A condition that becomes true once, and for which many tasks may wait.
///
/// They are woken in the order in which they began to wait. tokio's `watch` wakes them in a random order, which would
/// make simulations nondeterministic.
#[derive(Debug, Default)]
pub(crate) struct Latch {
    is_set: AtomicBool,
    notify: Notify,
}

impl Latch {
    /// Makes the condition true, and wakes all tasks that wait for it.
    pub(crate) fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    /// Whether it is true.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::SeqCst)
    }

    /// Returns when it is true.
    pub(crate) async fn wait(&self) {
        let mut notified = pin!(self.notify.notified());
        // Registers before checking the condition, so that no change in between is missed.
        notified.as_mut().enable();
        if !self.is_set() {
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn tasks_are_woken_in_the_order_in_which_they_began_to_wait() {
        let (latch, woken) = (Arc::new(Latch::default()), Arc::new(Mutex::new(Vec::new())));
        let waiting: Vec<_> = (0..20)
            .map(|number| {
                let (latch, woken) = (latch.clone(), woken.clone());
                tokio::spawn(async move {
                    latch.wait().await;
                    woken.lock().unwrap().push(number);
                })
            })
            .collect();
        tokio::task::yield_now().await;
        latch.set();
        for task in waiting {
            task.await.unwrap();
        }
        assert!(woken.lock().unwrap().is_sorted());
        assert!(latch.is_set());
        latch.wait().await;
    }
}
