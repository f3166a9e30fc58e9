//! `apply --server-side`: the server merges by field managers (A3.25).

use gantry_client::{ApiRequest, PatchForm, RefusalKind};
use gantry_json::{Map, Value, json};

use super::{ApplyOptions, MANAGER, ServerSide};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, text};
use crate::manifests::ResolvedManifest;
use crate::three_way::LAST_APPLIED;
use crate::verbs::result_printer::WriteParameters as _;

const KUBECTL: &str = "kubectl";
const LAST_APPLIED_MANAGER: &str = "kubectl-last-applied";

/// Applies one object.
pub(super) async fn apply(
    ctx: &mut ClientContext,
    options: &ApplyOptions,
    manifest: &ResolvedManifest,
    how: ServerSide,
) -> Result<Value, Failure> {
    let dry_run = options.manifests.printer.dry_run;
    if dry_run.is_client() {
        return Err(Failure::other(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
        ));
    }
    let manager = options.manifests.manager.as_deref().unwrap_or(KUBECTL);
    let force = if how == ServerSide::ForceConflicts { "true" } else { "false" };
    let call = || {
        let call =
            ApiRequest::patch(manifest.path(), PatchForm::Apply, &manifest.object).by(manager, dry_run);
        call.validated(options.manifests.validation).with("force", force)
    };
    let object = ctx.request(call()).await.map_err(conflict)?;
    if manager != KUBECTL || migrated(&object, manager).is_none() {
        return Ok(object);
    }
    let kept = keep_annotation(ctx, manifest, object, options).await?;
    if let Some(fields) = migrated(&kept, manager) {
        let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": fields}]);
        ctx.request(ApiRequest::patch(manifest.path(), PatchForm::Json, &patch).by(manager, dry_run)).await?;
    }
    ctx.request(call()).await.map_err(conflict)
}

/// Applies the last-applied annotation under a separate field manager, so that client-side apply still works.
async fn keep_annotation(
    ctx: &mut ClientContext,
    manifest: &ResolvedManifest,
    object: Value,
    options: &ApplyOptions,
) -> Result<Value, Failure> {
    let Some(annotation) = object["metadata"]["annotations"].get(LAST_APPLIED) else {
        return Ok(object);
    };
    let keep = json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"],
        "metadata": {"name": manifest.name, "namespace": manifest.namespace, "annotations": {LAST_APPLIED: annotation}},
    });
    let call = ApiRequest::patch(manifest.path(), PatchForm::Apply, &keep)
        .by(LAST_APPLIED_MANAGER, options.manifests.printer.dry_run);
    ctx.request(call.with("force", "true")).await
}

/// Moves the fields of client-side apply to this manager; `None` if there are none.
fn migrated(object: &Value, manager: &str) -> Option<Value> {
    let is_old = |entry: &&Value| {
        text(entry, "/manager") == MANAGER
            && text(entry, "/operation") == "Update"
            && text(entry, "/subresource").is_empty()
    };
    let entries = list(object, "/metadata/managedFields");
    let old: Vec<&Value> = entries.iter().filter(is_old).collect();
    if old.is_empty() {
        return None;
    }
    let mut kept: Vec<Value> = entries.iter().filter(|entry| !is_old(entry)).cloned().collect();
    let own = kept
        .iter_mut()
        .find(|entry| text(entry, "/manager") == manager && text(entry, "/operation") == "Apply")?;
    for entry in old {
        merge(&mut own["fieldsV1"], &entry["fieldsV1"]);
    }
    Some(kept.into())
}

/// Merges a field set into another.
fn merge(own: &mut Value, more: &Value) {
    let Value::Object(more) = more else { return };
    if !own.is_object() {
        *own = Map::new().into();
    }
    for (key, value) in more {
        merge(&mut own[key.as_str()], value);
    }
}

/// Adds kubectl's advice to a conflict.
fn conflict(failure: Failure) -> Failure {
    if failure.kind() != Some(RefusalKind::Conflict) {
        return failure;
    }
    Failure::other(format!(
        "{}\nPlease review the fields above--they currently have other managers. Here\nare the ways you can resolve this \
         warning:\n* If you intend to manage all of these fields, please re-run the apply\n  command with the \
         `--force-conflicts` flag.\n* If you do not intend to manage all of the fields, please edit your\n  manifest to \
         remove references to the fields that should keep their\n  current managers.\n* You may co-own fields by updating \
         your manifest to match the existing\n  value; in this case, you'll become the manager if the other manager(s)\n  \
         stop managing the field (remove it from their configuration).\nSee https://kubernetes.io/docs/reference/\
         using-api/server-side-apply/#conflicts",
        failure.message()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A3.25: the fields of client-side apply move to the manager `kubectl`.
    #[test]
    fn the_fields_of_client_side_apply_are_migrated() {
        let object = json!({"metadata": {"managedFields": [
            {"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}}}},
            {"manager": MANAGER, "operation": "Update", "fieldsV1": {"f:spec": {"f:b": {}}}},
            {"manager": "other", "operation": "Update", "fieldsV1": {}}]}});
        assert_eq!(
            migrated(&object, "kubectl").unwrap(),
            json!([{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}, "f:b": {}}}},
                   {"manager": "other", "operation": "Update", "fieldsV1": {}}])
        );
        assert_eq!(migrated(&json!({"metadata": {}}), "kubectl"), None);
    }
}
