//! `rollout status` (K6.4).

use std::time::Duration;

use gantry_json::Value;

use super::revisions::revision_of;
use super::targets_or_note;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, number, text};
use crate::selection::{FoundObject, Selection};
use crate::verbs::object_watch::{ObjectState, ObjectWatch};

/// The options of `rollout status`.
#[derive(Clone, Debug, Default)]
pub struct RolloutStatusOptions {
    /// The objects.
    pub selection: Selection,
    /// Whether to wait until the rollout is over.
    pub watch: bool,
    /// The timeout.
    pub timeout: Option<Duration>,
    /// Only this revision; 0 for any.
    pub revision: i64,
}

/// The progress of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Progress {
    Waiting(String),
    Done(String),
}

/// Prints the progress of rollouts, and waits for them.
pub async fn status(ctx: &mut ClientContext, options: &RolloutStatusOptions) -> Result<(), Failure> {
    if options.revision < 0 {
        return Err(Failure::other(format!("revision must be a positive integer: {}", options.revision)));
    }
    let (found, mut failures) = targets_or_note(ctx, &options.selection).await?;
    for one in &found {
        failures.extend(status_of(ctx, options, one).await.err());
    }
    Failure::all(failures)
}

async fn status_of(
    ctx: &mut ClientContext,
    options: &RolloutStatusOptions,
    one: &FoundObject,
) -> Result<(), Failure> {
    if one.resource.kind != "Deployment" {
        return Err(Failure::other(format!(
            "no status viewer has been implemented for {}",
            one.resource.kind_with_group()
        )));
    }
    let waited = wait(ctx, options, one);
    match options.timeout {
        None => waited.await,
        Some(limit) => tokio::time::timeout(limit, waited)
            .await
            .unwrap_or_else(|_| Err(Failure::other("timed out waiting for the condition"))),
    }
}

async fn wait(
    ctx: &mut ClientContext,
    options: &RolloutStatusOptions,
    one: &FoundObject,
) -> Result<(), Failure> {
    let first = progress(&one.object, options.revision)?;
    let (line, done) = match &first {
        Progress::Waiting(line) => (line, !options.watch),
        Progress::Done(line) => (line, true),
    };
    ctx.println(line)?;
    if done {
        return Ok(());
    }
    let mut watch = ObjectWatch::from(ctx, &one.resource, &one.namespace, &one.object).await?;
    loop {
        match watch.next(ctx).await? {
            ObjectState::Deleted(_) => return Err(Failure::other("object has been deleted")),
            ObjectState::Present(object) => match progress(&object, options.revision)? {
                Progress::Waiting(line) => ctx.println(&line)?,
                Progress::Done(line) => return ctx.println(&line),
            },
        }
    }
}

/// The progress of the rollout of a Deployment.
fn progress(deployment: &Value, revision: i64) -> Result<Progress, Failure> {
    let name = text(deployment, "/metadata/name");
    if revision > 0 && revision_of(deployment) != revision {
        return Err(Failure::other(format!(
            "desired revision ({revision}) is different from the running revision ({})",
            revision_of(deployment)
        )));
    }
    if number(deployment, "/metadata/generation") > number(deployment, "/status/observedGeneration") {
        return Ok(Progress::Waiting("Waiting for deployment spec update to be observed...".to_owned()));
    }
    let missed = list(deployment, "/status/conditions").iter().any(|condition| {
        text(condition, "/type") == "Progressing" && text(condition, "/reason") == "ProgressDeadlineExceeded"
    });
    if missed {
        return Err(Failure::other(format!("deployment \"{name}\" exceeded its progress deadline")));
    }
    let desired = deployment.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let count = |field: &str| number(deployment, &format!("/status/{field}"));
    let (replicas, updated, available) =
        (count("replicas"), count("updatedReplicas"), count("availableReplicas"));
    let waiting = |rest: String| {
        Ok(Progress::Waiting(format!("Waiting for deployment \"{name}\" rollout to finish: {rest}...")))
    };
    if updated < desired {
        waiting(format!("{updated} out of {desired} new replicas have been updated"))
    } else if replicas > updated {
        waiting(format!("{} old replicas are pending termination", replicas - updated))
    } else if available < updated {
        waiting(format!("{available} of {updated} updated replicas are available"))
    } else {
        Ok(Progress::Done(format!("deployment \"{name}\" successfully rolled out")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "so that `json!` can stand in the call")]
    fn render(replicas: i64, status: Value) -> String {
        let deployment = json!({"metadata": {"name": "x", "generation": 2, "annotations":
            {"deployment.kubernetes.io/revision": "1"}}, "spec": {"replicas": replicas}, "status": status});
        match progress(&deployment, 0) {
            Ok(Progress::Waiting(line) | Progress::Done(line)) => line,
            Err(failure) => failure.lines(),
        }
    }

    /// K6.4 table, in its order.
    #[test]
    fn the_first_unmet_condition_is_reported() {
        let waiting = |rest: &str| format!("Waiting for deployment \"x\" rollout to finish: {rest}...");
        assert_eq!(
            render(3, json!({"observedGeneration": 1})),
            "Waiting for deployment spec update to be observed..."
        );
        let missed = json!({"observedGeneration": 2, "conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]});
        assert_eq!(render(3, missed), "error: deployment \"x\" exceeded its progress deadline\n");
        let counts = |replicas, updated, available| json!({"observedGeneration": 2, "replicas": replicas, "updatedReplicas": updated, "availableReplicas": available});
        assert_eq!(render(3, counts(3, 1, 3)), waiting("1 out of 3 new replicas have been updated"));
        assert_eq!(render(3, counts(4, 3, 3)), waiting("1 old replicas are pending termination"));
        assert_eq!(render(3, counts(3, 3, 2)), waiting("2 of 3 updated replicas are available"));
        assert_eq!(render(3, counts(3, 3, 3)), "deployment \"x\" successfully rolled out");
        assert_eq!(render(0, json!({"observedGeneration": 2})), "deployment \"x\" successfully rolled out");
    }

    /// K6.4: another revision than the one that runs.
    #[test]
    fn another_revision_is_an_error() {
        let deployment = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}});
        assert_eq!(
            progress(&deployment, 9).unwrap_err().lines(),
            "error: desired revision (9) is different from the running revision (1)\n"
        );
    }
}
