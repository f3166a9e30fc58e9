//! Bindings: the scheduler says where a pod runs.

use gantry_registry::Refusal;
use gantry_registry::decode::Gvk;
use gantry_registry::kinds::kinds;
use gantry_registry::pods::binding;
use serde_json::Value;

use super::super::call::Call;
use super::{check_posted_name, done};
use crate::answer::Answer;
use crate::objects::{Change, Place};

impl Call<'_> {
    /// Binds the pod of the path, or of the body where the path names none.
    pub(in crate::handlers) async fn bind(&self) -> Result<Answer, Refusal> {
        let options = self.query.write_options("CreateOptions", &self.user_agent)?;
        let (object, findings) = self.posted(Gvk::new("", "v1", "Binding"), &[], &options)?;
        done(self.bind_by(object, options.dry_run).await, &options, &findings)
    }

    async fn bind_by(&self, mut object: Value, dry_run: bool) -> Result<(), Refusal> {
        self.check_posted_place(&mut object).await?;
        let name = match self.name {
            Some(name) => {
                check_posted_name(name, &object, "Binding")?;
                name
            }
            None => object["metadata"]["name"].as_str().unwrap_or_default(),
        };
        if name.is_empty() {
            return Err(Refusal::bad_request("Name parameter required."));
        }
        binding::check(&object)?;
        let kind = kinds().resource("", "v1", "pods").ok_or_else(super::no_such_resource)?;
        let (place, now) = (Place { kind, namespace: self.namespace, name }, self.server.surroundings.now());
        let bound = self.server.objects.change(place, |pod| {
            let bound = binding::bind(pod, &object, now)?;
            Ok(if dry_run { Change::Keep } else { Change::Store(bound) })
        });
        bound.await.map(drop)
    }
}
