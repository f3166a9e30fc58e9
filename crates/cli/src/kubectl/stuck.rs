//! What ends `rollout status --fail-when-stuck` early: the verdict of `gantry why`.

use std::time::Duration;

use gantry_kubectl::Failure;
use gantry_runtime::Clock;
use gantry_view::why::{self, Verdict};
use gantry_view::{Snapshot, WaitDecision, WaitPolicy};

use crate::asked::{self, Asked};
use crate::cluster::ClusterFlags;
use crate::gather;

/// How often the rollout is looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// Returns when the rollout has been stuck for so long, and says why; never if it goes well.
pub(super) async fn failure(flags: &ClusterFlags, words: &[String], stuck_for: Duration) -> Failure {
    match watch(flags, words, stuck_for).await {
        Ok(failure) | Err(failure) => failure,
    }
}

async fn watch(flags: &ClusterFlags, words: &[String], stuck_for: Duration) -> Result<Failure, Failure> {
    let one = |message| Failure::other(format!("--fail-when-stuck is about one Deployment: {message}"));
    let name = asked::deployment_name(words).map_err(one)?;
    let (asked, cluster) = (Asked::One(name.clone()), flags.open().await?);
    let mut waiting = WaitPolicy::new(Clock::system().now(), stuck_for, None);
    loop {
        for objects in gather::look(&cluster, &asked).await?.objects {
            let snapshot = Snapshot::parse(objects)
                .map_err(|error| Failure::other(format!("the server's answer cannot be read: {error}")))?;
            let now = Clock::system().now();
            let report = why::explain(now, &snapshot, &flags.for_commands(None));
            let is_stuck = report.verdict == Verdict::Stuck;
            if waiting.next(now, std::slice::from_ref(&report)) == WaitDecision::End && is_stuck {
                return Ok(Failure::other(format!("deployment \"{name}\" is stuck: {}", report.headline)));
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
