//! What wakes the controller: the clock alone. A node that is away for a moment is nothing to react to.

use std::time::Duration;

/// Returns when it is time to look again.
pub(super) async fn next_look(every: Duration) {
    tokio::time::sleep(every).await;
}
