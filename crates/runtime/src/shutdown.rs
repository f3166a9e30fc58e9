//! Shutdown as a value: the switch requests it, the signal waits for it.

use std::sync::Arc;

use crate::latch::Latch;

/// Requests the shutdown. Dropping it does the same, so that no task outlives its host.
#[derive(Debug)]
pub struct Switch(Arc<Latch>);

/// The signal.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<Latch>);

/// A switch and its signal.
pub fn shutdown() -> (Switch, Shutdown) {
    let latch = Arc::new(Latch::default());
    (Switch(latch.clone()), Shutdown(latch))
}

impl Switch {
    /// Requests the shutdown.
    pub fn turn(&self) {
        self.0.set();
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.turn();
    }
}

impl Shutdown {
    /// Returns when shutdown is requested.
    pub async fn wait(&self) {
        self.0.wait().await;
    }

    /// Whether shutdown is requested.
    pub fn is_over(&self) -> bool {
        self.0.is_set()
    }

    /// Runs a future until it ends or shutdown is requested; `None` for the latter.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.wait() => None,
            done = work => Some(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_triggered_or_dropped_switch_ends_all_tasks() {
        let (switch, turned) = shutdown();
        assert_eq!(turned.unless(async { 1 }).await, Some(1));
        switch.turn();
        assert!(turned.is_over());
        assert_eq!(turned.unless(std::future::pending::<()>()).await, None);
        let (switch, dropped) = shutdown();
        drop(switch);
        assert_eq!(dropped.unless(std::future::pending::<()>()).await, None);
        assert!(dropped.is_over());
    }
}
