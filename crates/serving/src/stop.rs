//! Shutdown of the server, as a value.

use tokio::sync::watch;

/// Requests the shutdown.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Waits for the shutdown.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// The two ends.
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Requests the shutdown. Dropping the stopper does the same.
    pub fn stop(self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Returns when shutdown is requested.
    pub async fn wait(&mut self) {
        // A dropped stopper counts as a request.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}
