//! `rollout undo` (K6.2): the client looks up the revision and writes its template.

use std::collections::BTreeMap;

use gantry_client::{ApiRequest, PatchForm};
use gantry_json::{Map, Value, json};

use super::revisions::revisions;
use super::{not_a_rollout, targets};
use crate::client_context::ClientContext;
use crate::describe::template;
use crate::failure::Failure;
use crate::field::at;
use crate::selection::{FoundObject, Selection};
use crate::three_way::LAST_APPLIED;
use crate::verbs::result_printer::ResultPrinter;
use crate::verbs::result_printer::WriteParameters as _;
use crate::workload::without_hash;

/// The options of `rollout undo`.
#[derive(Clone, Debug, Default)]
pub struct UndoOptions {
    /// The objects.
    pub selection: Selection,
    /// The revision; 0 for the previous one.
    pub to_revision: i64,
    /// How results are printed.
    pub printer: ResultPrinter,
}

/// Annotations that belong to the Deployment and not to a revision of it.
const PROTECTED: [&str; 6] = [
    LAST_APPLIED,
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
];

/// Rolls back to earlier revisions.
pub async fn undo(ctx: &mut ClientContext, options: &UndoOptions) -> Result<(), Failure> {
    let (found, mut failures) = targets(ctx, &options.selection).await?;
    for one in &found {
        failures.extend(undo_one(ctx, options, one).await.err());
    }
    Failure::all(failures)
}

async fn undo_one(ctx: &mut ClientContext, options: &UndoOptions, one: &FoundObject) -> Result<(), Failure> {
    if one.resource.kind != "Deployment" {
        return Err(not_a_rollout(one, "rollbacker", "rollbacker"));
    }
    if at(&one.object, "/metadata/annotations").get(LAST_APPLIED).is_some() {
        ctx.eprintln(&format!(
            "Warning: resource deployments/{} was previously managed with 'kubectl apply'. Rolling back will not update \
             the {LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. \
             Consider using 'kubectl apply' with your previous configuration file instead.",
            one.name
        ));
    }
    let revisions = revisions(ctx, one).await?;
    let (revision, set) = target(&revisions, options.to_revision, &one.name)?;
    let template = without_hash(&set["spec"]["template"]);
    if options.printer.dry_run.is_client() {
        let described = template::described(&set["spec"]["template"]);
        return options.printer.print(ctx, &one.title(), &described, &one.object);
    }
    if one.object["spec"]["paused"] == true {
        return Err(Failure::other(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again",
        ));
    }
    if without_hash(&one.object["spec"]["template"]) == template {
        let skipped = format!("skipped rollback (current template already matches revision {revision})");
        return options.printer.print(ctx, &one.title(), &skipped, &one.object);
    }
    let patch = json!([
        {"op": "replace", "path": "/spec/template", "value": template},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations(&one.object, set)},
    ]);
    let call =
        ApiRequest::patch(one.path(), PatchForm::Json, &patch).by("kubectl-rollout", options.printer.dry_run);
    let object = ctx.request(call).await;
    let object = object.map_err(|failure| match failure {
        Failure::Status(_) => {
            Failure::other(format!("failed restoring revision {revision}: {}", failure.message()))
        }
        other => other,
    })?;
    options.printer.print(ctx, &one.title(), "rolled back", &object)
}

/// The revision to roll back to.
fn target<'r>(revisions: &'r BTreeMap<i64, Value>, to: i64, name: &str) -> Result<(i64, &'r Value), Failure> {
    if to != 0 {
        let set = revisions.get(&to).filter(|_| to > 0);
        return set
            .map(|set| (to, set))
            .ok_or_else(|| Failure::other(format!("unable to find specified revision {to} in history")));
    }
    let last = revisions.iter().rev().nth(1).map(|(revision, set)| (*revision, set));
    last.ok_or_else(|| Failure::other(format!("no rollout history found for deployment \"{name}\"")))
}

/// The protected annotations of the Deployment and all others of the revision (K6.3).
fn annotations(deployment: &Value, set: &Value) -> Map {
    let of = |object: &Value| at(object, "/metadata/annotations").as_object().cloned().unwrap_or_default();
    let own = of(deployment).into_iter().filter(|(key, _)| PROTECTED.contains(&key.as_str()));
    let revived = of(set).into_iter().filter(|(key, _)| !PROTECTED.contains(&key.as_str()));
    own.chain(revived).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K6.2: zero means the revision before the last.
    #[test]
    fn zero_means_the_previous_revision() {
        let revisions: BTreeMap<i64, Value> = [(2, json!("b")), (3, json!("c")), (7, json!("g"))].into();
        assert_eq!(target(&revisions, 0, "x").unwrap(), (3, &json!("c")));
        assert_eq!(target(&revisions, 7, "x").unwrap(), (7, &json!("g")));
        for unknown in [1, -2] {
            assert_eq!(
                target(&revisions, unknown, "x").unwrap_err().lines(),
                format!("error: unable to find specified revision {unknown} in history\n")
            );
        }
        let one = [(1, json!("a"))].into();
        assert_eq!(
            target(&one, 0, "x").unwrap_err().lines(),
            "error: no rollout history found for deployment \"x\"\n"
        );
    }

    /// K6.3: six annotations stay the Deployment's, the others come from the revision.
    #[test]
    fn annotations_come_from_the_revision_but_for_six() {
        let marks = |marks: Value| json!({"metadata": {"annotations": marks}});
        let deployment = marks(json!({"deployment.kubernetes.io/revision": "3", "note": "new"}));
        let set =
            marks(json!({"deployment.kubernetes.io/revision": "1", "kubernetes.io/change-cause": "old"}));
        assert_eq!(
            Value::from(annotations(&deployment, &set)),
            json!({"deployment.kubernetes.io/revision": "3", "kubernetes.io/change-cause": "old"})
        );
    }
}
