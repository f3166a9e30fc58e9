//! The trigger of a check: only a timer. A short absence of a node needs no reaction.

use std::time::Duration;

pub(super) async fn next_check(every: Duration) {
    tokio::time::sleep(every).await;
}
