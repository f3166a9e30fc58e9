//! Bindings of pods to nodes.

use gantry_json::Value;
use gantry_registry::pods::binding;
use gantry_schema::decode::Gvk;
use gantry_schema::kinds::kinds;

use super::super::call::Call;
use super::{check_posted_name, created_status};
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::{Change, ObjectRef};
use crate::response::ApiResponse;

impl Call<'_> {
    /// Binds the pod of the path, or of the body if the path names none.
    pub(in crate::handlers) async fn bind(&self) -> Result<ApiResponse, ApiError> {
        let options = self.info.query.write_options("CreateOptions", self.info.user_agent())?;
        let (object, findings) = self.decode_posted(Gvk::new("", "v1", "Binding"), &[], &options)?;
        created_status(self.bind_by(object, options.dry_run).await, &options, &findings)
    }

    async fn bind_by(&self, mut object: Value, dry_run: bool) -> Result<(), ApiError> {
        self.check_posted_namespace(&mut object).await?;
        let name = match self.name {
            Some(name) => {
                check_posted_name(name, &object, "Binding")?;
                name
            }
            None => Metadata::of(&object).name(),
        };
        if name.is_empty() {
            return Err(ApiError::bad_request("Name parameter required."));
        }
        binding::check(&object)?;
        let kind = kinds().resource("", "v1", "pods").ok_or(ApiError::ResourceNotFound)?;
        let (object_ref, now) =
            (ObjectRef { kind, namespace: self.namespace, name }, self.server.environment.now());
        let bound = self.server.objects.change(object_ref, |pod| {
            let bound = binding::bind(pod, &object, now)?;
            Ok(if dry_run { Change::Keep } else { Change::Store(bound) })
        });
        bound.await.map(drop)
    }
}
