//! Shutting down as a value: whoever holds the switch turns it once, whoever holds the signal can wait for it.

use tokio::sync::watch;

/// The switch. Dropping it turns it as well, so that nothing outlives its host.
#[derive(Debug)]
pub struct Switch(watch::Sender<bool>);

/// Says whether it is time to end.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<bool>);

/// A switch and its signal.
pub fn shutdown() -> (Switch, Shutdown) {
    let (sender, receiver) = watch::channel(false);
    (Switch(sender), Shutdown(receiver))
}

impl Switch {
    /// Asks everybody to end.
    pub fn turn(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Returns when it is time to end.
    pub async fn wait(&self) {
        let mut receiver = self.0.clone();
        // An error means that the switch is gone, which is the same thing.
        let _ = receiver.wait_for(|over| *over).await;
    }

    /// Whether it is time to end.
    pub fn is_over(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Runs something until it ends or it is time to end, whichever is first; `None` for the latter.
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
    async fn a_turned_or_dropped_switch_ends_all_work() {
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
