//! The wish to stop, as a value that is passed down and waited for.

use tokio::sync::watch;

/// Tells everybody who holds the [`Stop`] that it is time to stop.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Knows whether it is time to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// Somebody who can stop, and what the others look at.
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Stops. A stopper that is dropped does the same.
    pub fn stop(self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Waits until it is time to stop.
    pub async fn wait(&mut self) {
        // A stopper that is gone cannot say so any more, which is as good as saying it.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}
