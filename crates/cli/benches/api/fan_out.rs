//! One write and a thousand watchers: the time until each watcher receives the event.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use tokio::sync::mpsc;

use crate::client::{Client, Connection, Sender};
use crate::load::{WATCHED, object, path};

/// Times from a write to its events, in milliseconds.
pub(crate) struct FanOut {
    /// The median over all watchers and writes.
    pub(crate) median: f64,
    /// The 99th percentile.
    pub(crate) most: f64,
    /// The last watcher of each write; the median over all writes.
    pub(crate) last: f64,
}

const ROUNDS: usize = 40;

/// Repeatedly writes and waits for every watcher.
pub(crate) async fn measure(client: &Client, kind: Sender, watchers: usize) -> FanOut {
    let (sent, mut received) = mpsc::unbounded_channel();
    let connections = match kind {
        Sender::One => watchers,
        Sender::Two => 64,
    };
    let mut senders = Vec::new();
    for _ in 0..connections {
        senders.push(client.sender(kind).await);
    }
    let mut writer = client.sender(Sender::One).await;
    // The second time, the object exists already.
    writer.send("POST", &path(WATCHED), object("news", 0)).await;
    for watcher in 0..watchers {
        begin(&mut senders[watcher % connections], sent.clone()).await;
    }
    // Every watch begins with the existing object.
    for _ in 0..watchers {
        next(&mut received).await;
    }
    let (mut all, mut last) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let began = Instant::now();
        let (status, _) = writer
            .send("PUT", &format!("{}/news", path(WATCHED)), object("news", 1 + watchers + round))
            .await;
        assert_eq!(status, 200);
        let mut slowest = Duration::ZERO;
        for _ in 0..watchers {
            let at = next(&mut received).await;
            let taken = at.saturating_duration_since(began);
            slowest = slowest.max(taken);
            all.push(taken);
        }
        last.push(slowest);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    all.sort_unstable();
    last.sort_unstable();
    let milliseconds = |taken: Duration| taken.as_secs_f64() * 1000.0;
    FanOut {
        median: milliseconds(all[all.len() / 2]),
        most: milliseconds(all[all.len() * 99 / 100]),
        last: milliseconds(last[last.len() / 2]),
    }
}

/// The time at which the next watcher received the change.
async fn next(received: &mut mpsc::UnboundedReceiver<Instant>) -> Instant {
    let at = tokio::time::timeout(Duration::from_secs(20), received.recv()).await;
    at.expect("every watcher receives the change").expect("the watches are open")
}

/// Starts a watch that reports every change.
async fn begin(sender: &mut Connection, arrivals: mpsc::UnboundedSender<Instant>) {
    let watch = format!("{}?watch=true", path(WATCHED));
    let response = sender.begin("GET", &watch, "").await;
    assert_eq!(response.status().as_u16(), 200);
    let arrivals = Arc::new(arrivals);
    tokio::spawn(async move {
        let mut body = response.into_body();
        while let Some(Ok(frame)) = body.frame().await {
            // One frame per change, unless changes are faster than the watch; here they are not.
            if frame.is_data() && arrivals.send(Instant::now()).is_err() {
                return;
            }
        }
    });
}
