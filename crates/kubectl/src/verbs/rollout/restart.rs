//! `rollout restart` (K6.3).

use gantry_client::{ApiRequest, PatchForm};
use gantry_json::json;

use super::targets_or_note;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::selection::{FoundObject, Selection};
use crate::verbs::result_printer::ResultPrinter;
use crate::verbs::result_printer::WriteParameters as _;

const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// Restarts the pods of workloads by a rollout.
pub async fn restart(
    ctx: &mut ClientContext,
    selection: &Selection,
    printer: &ResultPrinter,
) -> Result<(), Failure> {
    let (found, mut failures) = targets_or_note(ctx, selection).await?;
    for one in &found {
        failures.extend(restart_one(ctx, one, printer).await.err());
    }
    Failure::all(failures)
}

async fn restart_one(
    ctx: &mut ClientContext,
    one: &FoundObject,
    printer: &ResultPrinter,
) -> Result<(), Failure> {
    if !["Deployment", "DaemonSet", "StatefulSet"].contains(&one.resource.kind.as_str()) {
        return Err(Failure::other(format!("error: {} restarting is not supported", one.plural_title())));
    }
    if one.object["spec"]["paused"] == true {
        return Err(Failure::other(format!(
            "{} can't restart paused deployment (run rollout resume first)",
            one.plural_title()
        )));
    }
    let now = ctx.now().to_string();
    let before = one
        .object
        .pointer("/spec/template/metadata/annotations")
        .and_then(|annotations| annotations.get(RESTARTED_AT));
    if before.is_some_and(|before| before == now.as_str()) {
        return Err(Failure::other(format!(
            "failed to create patch for {}: if restart has already been triggered within the past second, please wait \
             before attempting to trigger another",
            one.name
        )));
    }
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: now}}}}});
    let call = ApiRequest::patch(one.path(), PatchForm::StrategicMerge, &patch)
        .by("kubectl-rollout", printer.dry_run);
    let object = ctx.request(call).await?;
    printer.print(ctx, &one.title(), "restarted", &object)
}
