//! `rollout status --fail-when-stuck`: fails early by the verdict of `gantry why`.

use std::time::Duration;

use gantry_kubectl::Failure;
use gantry_runtime::Clock;
use gantry_view::why::{self, Verdict};
use gantry_view::{Snapshot, WaitDecision, WaitPolicy};

use crate::cluster::ClusterFlags;
use crate::deployment_args::{self, DeploymentArgs};
use crate::fetch;

/// The polling interval.
const INTERVAL: Duration = Duration::from_secs(1);

/// Returns a failure with the reason once the rollout has been stuck for so long; otherwise never returns.
pub(super) async fn failure(flags: &ClusterFlags, words: &[String], stuck_for: Duration) -> Failure {
    match watch(flags, words, stuck_for).await {
        Ok(failure) | Err(failure) => failure,
    }
}

async fn watch(flags: &ClusterFlags, words: &[String], stuck_for: Duration) -> Result<Failure, Failure> {
    let one = |message| Failure::other(format!("--fail-when-stuck is about one Deployment: {message}"));
    let name = deployment_args::deployment_name(words).map_err(one)?;
    let (args, cluster) = (DeploymentArgs::One(name.clone()), flags.open().await?);
    let mut waiting = WaitPolicy::new(Clock::system().now(), stuck_for, None);
    loop {
        for objects in fetch::deployments(&cluster, &args).await?.objects {
            let snapshot = Snapshot::parse(objects).map_err(|error| {
                Failure::other(format!("the server's response cannot be decoded: {error}"))
            })?;
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
