//! Delete and deletecollection.

use futures::future::join_all;
use gantry_json::{Value, json};
use gantry_registry::lifecycle::{self, DeleteOptions};
use gantry_registry::paging::{ListOptions, integer};
use gantry_registry::strategies;
use gantry_schema::decode;
use gantry_schema::kinds::{DeleteAnswer, Kind, Scope, Verb};
use gantry_store::Item;

use super::call::Call;
use super::namespaces::namespace_precondition_failed;
use super::{read, require_verb};
use crate::authorization::NodeWrite;
use crate::error::{ApiError, ObjectName};
use crate::metadata::Metadata;
use crate::objects::{Change, ChangeResult, ObjectRef};
use crate::response::ApiResponse;
use crate::storage_codec;

/// The number of objects of a collection that are deleted at the same time: their writes share a sync of the disk.
const DELETIONS_AT_ONCE: usize = 64;

impl Call<'_> {
    pub(super) async fn delete(&self) -> Result<ApiResponse, ApiError> {
        require_verb(self.kind, Verb::Delete)?;
        let options = self.delete_options()?;
        // The warning depends only on the request, so errors have it, too.
        let response = self.delete_one(&options).await.unwrap_or_else(|error| ApiResponse::error(&error));
        Ok(self.with_orphan_warning(response, &options))
    }

    async fn delete_one(&self, options: &DeleteOptions) -> Result<ApiResponse, ApiError> {
        self.check_deletable(self.object_ref())?;
        match self.delete_object(self.object_ref(), options).await? {
            ChangeResult::Removed(object) => match self.kind.deleted {
                DeleteAnswer::Object => self.render_response(200, &object),
                DeleteAnswer::Status => Ok(ApiResponse::value(200, self.deleted_status(&object))),
            },
            ChangeResult::Kept(object) | ChangeResult::Stored(object) => {
                self.render_response(if options.legacy_background { 202 } else { 200 }, &object)
            }
        }
    }

    pub(super) async fn delete_collection(&self) -> Result<ApiResponse, ApiError> {
        if self.kind.scope == Scope::Namespaced && self.namespace.is_none() {
            return Err(ApiError::MethodNotAllowed);
        }
        let list_options = ListOptions::read(&self.info.query.0, self.selectable())?;
        let options = self.delete_options()?;
        let found = read::list(self, &list_options).await?;
        for some in found.items.chunks(DELETIONS_AT_ONCE) {
            let deletions = join_all(some.iter().map(|item| self.delete_listed(item, &options))).await;
            deletions.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(self.with_orphan_warning(read::render(self, found).await?, &options))
    }

    /// Deletes an object of a collection. Most are removed in the revision that was listed, without reading or decoding
    /// them again.
    async fn delete_listed(&self, item: &Item, options: &DeleteOptions) -> Result<(), ApiError> {
        let object = storage_codec::decode_finalizers(self.kind, &item.value, item.revision)?;
        let object_ref = ObjectRef::of(self.kind, &object);
        let depends_on_more = options.dry_run
            || options.uid.is_some()
            || options.resource_version.is_some()
            || self.info.caller.node().is_some()
            || !lifecycle::is_removed_at_once(&object, options, self.kind);
        if !depends_on_more && self.server.objects.remove_read(object_ref, item).await? {
            return Ok(());
        }
        match self.delete_object(object_ref, options).await {
            Ok(_) | Err(ApiError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Deletes an object, or returns the result of a dry run.
    pub(super) async fn delete_object(
        &self,
        object_ref: ObjectRef<'_>,
        options: &DeleteOptions,
    ) -> Result<ChangeResult, ApiError> {
        let now = self.server.environment.now();
        let mut would = None;
        let outcome = self.server.objects.change(object_ref, |stored| {
            self.check_preconditions(object_ref, stored, options)?;
            self.info.caller.check_node_write(object_ref, &NodeWrite::Delete(stored))?;
            let change = lifecycle::delete(stored, options, self.kind, now).into();
            if !options.dry_run {
                return Ok(change);
            }
            would = Some(match change {
                Change::Keep | Change::Renew => ChangeResult::Kept(stored.clone().into()),
                Change::Store(object) => ChangeResult::Stored(object.into()),
                Change::Remove(before) => {
                    ChangeResult::Removed(before.unwrap_or_else(|| stored.clone()).into())
                }
            });
            Ok(Change::Keep)
        });
        let outcome = outcome.await?;
        Ok(would.unwrap_or(outcome))
    }

    /// Returns 409 if the uid or version differs from the one in the options.
    pub(super) fn check_preconditions(
        &self,
        object_ref: ObjectRef<'_>,
        stored: &Value,
        options: &DeleteOptions,
    ) -> Result<(), ApiError> {
        let metadata = Metadata::of(stored);
        let problem = match (&options.uid, &options.resource_version) {
            (Some(uid), _) if uid != metadata.uid() => format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                metadata.uid()
            ),
            (_, Some(version)) if version != metadata.resource_version() => format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
                 The object might have been modified",
                metadata.resource_version()
            ),
            _ => return Ok(()),
        };
        if self.is_namespace() {
            return Err(namespace_precondition_failed(object_ref, stored, options));
        }
        let Kind { kind, group, .. } = *self.kind.as_ref();
        // Kubernetes prints the kind here and not the resource.
        let object = ObjectName { group, resource: kind, name: object_ref.name.to_owned() };
        Err(ApiError::conflict(object, problem))
    }

    /// Parses the options in the body, or in the query if there is none.
    fn delete_options(&self) -> Result<DeleteOptions, ApiError> {
        if !self.body.is_empty() {
            let options =
                decode::delete_options(&self.body, self.format()?, self.kind.group, self.kind.version)?;
            return Ok(DeleteOptions::parse(&options)?);
        }
        let mut options = json!({});
        if let Some(seconds) = self.info.query.first("gracePeriodSeconds") {
            options["gracePeriodSeconds"] = json!(integer(seconds)?);
        }
        if let Some(policy) = self.info.query.first("propagationPolicy") {
            options["propagationPolicy"] = json!(policy);
        }
        if self.info.query.first("orphanDependents").is_some() {
            options["orphanDependents"] = json!(self.info.query.flag("orphanDependents"));
        }
        if let Some(uid) = self.info.query.first("uid") {
            options["preconditions"] = json!({"uid": uid});
        }
        let stages = self.info.query.0.iter().filter(|(key, _)| key == "dryRun");
        options["dryRun"] = stages.map(|(_, value)| json!(value)).collect();
        Ok(DeleteOptions::parse(&options)?)
    }

    /// Adds the warning about a deletion without a propagation policy, if the kind has one.
    fn with_orphan_warning(&self, response: ApiResponse, options: &DeleteOptions) -> ApiResponse {
        match strategies::of(self.kind).orphan_warning {
            Some(warning) if options.propagation.is_none() => response.warning(warning),
            _ => response,
        }
    }

    /// The Status of a successful deletion.
    fn deleted_status(&self, object: &Value) -> Value {
        let mut details = json!({
            "name": object["metadata"]["name"], "kind": self.kind.resource, "uid": object["metadata"]["uid"],
        });
        if !self.kind.group.is_empty() {
            details["group"] = json!(self.kind.group);
        }
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
    }
}
