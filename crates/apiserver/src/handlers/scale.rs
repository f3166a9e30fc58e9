//! The subresource `scale`: the size of a workload, without the rest of it.

use gantry_registry::kinds::{Kind, Verb};
use gantry_registry::ownership::{
    FieldSet, ManagedFields, Write, scale_entries, scale_entries_to_parent, track_update,
};
use gantry_registry::patch::{self, PatchKind};
use gantry_registry::schema::{MessageId, schema};
use gantry_registry::selector::LabelSelector;
use gantry_registry::{FieldError, Refusal, decode, encode, validation};
use http::Method;
use serde_json::{Value, json};

use super::call::Call;
use super::stored::{Ownership, settle};
use super::write::Part;
use super::{allowed, method_not_allowed};
use crate::answer::Answer;
use crate::query::WriteOptions;

const VERSION: &str = "autoscaling/v1";

impl Call<'_> {
    pub(super) async fn scale(&self, method: &Method) -> Result<Answer, Refusal> {
        let message = schema().find("autoscaling/v1.Scale").ok_or_else(method_not_allowed)?;
        let parent = match *method {
            Method::GET => {
                allowed(self.kind, Verb::Get)?;
                self.server.objects.get(self.place()).await?
            }
            Method::PUT => {
                let options = self.query.write_options("UpdateOptions", &self.user_agent)?;
                let gvk = decode::Gvk::new("autoscaling", "v1", "Scale");
                let wanted = decode::object(&self.body, self.format()?, gvk)?.object;
                self.check_name(&wanted)?;
                self.resize(message, &options, |_| Ok(wanted.clone())).await?
            }
            Method::PATCH => self.patch_scale(message).await?,
            _ => return Err(method_not_allowed()),
        };
        Ok(Answer::json(200, encode::object(&scale_of(self.kind, &parent), message)))
    }

    async fn patch_scale(&self, message: MessageId) -> Result<Value, Refusal> {
        let kind = match self.content_type.as_str() {
            "application/json-patch+json" => PatchKind::Json,
            "application/merge-patch+json" => PatchKind::Merge,
            "application/strategic-merge-patch+json" => PatchKind::Strategic,
            _ => return Err(super::patch::unsupported()),
        };
        let options = self.query.write_options("PatchOptions", &self.user_agent)?;
        let (body, _) = decode::plain(&self.body, decode::Format::Json).map_err(Refusal::bad_request)?;
        self.resize(message, &options, |scale| {
            let patched = patch::apply(kind, scale, message, &body)?;
            let decoded = decode::value(patched.clone(), message);
            decoded
                .map(|decoded| decoded.object)
                .map_err(|why| patch::undecodable(kind, &body, &patched, &why))
        })
        .await
    }

    /// Changes the parent as a changed Scale says, and returns the parent.
    async fn resize(
        &self,
        message: MessageId,
        options: &WriteOptions,
        mut change: impl FnMut(&Value) -> Result<Value, Refusal>,
    ) -> Result<Value, Refusal> {
        let now = self.server.surroundings.now().to_string();
        let reset = FieldSet::of_fields(&["status"]);
        let changed = self.change(options, |stored| {
            let mut scale = scale_of(self.kind, stored);
            let owners = ManagedFields::of(stored);
            scale_entries(&owners).store(&mut scale);
            let mut wanted = change(&scale)?;
            let errors = validation::scale(&wanted).errors;
            if !errors.is_empty() {
                return Err(Refusal::invalid("Scale", "autoscaling", self.place().name, &errors));
            }
            let write = Write {
                kind: message,
                api_version: VERSION,
                subresource: "scale",
                manager: &options.manager,
                reset: &reset,
                now: &now,
            };
            track_update(Some(&scale), &mut wanted, &write);
            let owners =
                scale_entries_to_parent(&owners, &ManagedFields::of(&wanted), &self.kind.api_version());
            let mut parent = stored.clone();
            parent["spec"]["replicas"] = json!(wanted["spec"]["replicas"].as_i64().unwrap_or(0));
            parent["metadata"]["resourceVersion"] = wanted["metadata"]["resourceVersion"].clone();
            owners.store(&mut parent);
            settle(self, stored, parent, Part::Main, options, Ownership::Settled)
        });
        changed.await
    }
}

/// The Scale of a workload.
fn scale_of(kind: &Kind, parent: &Value) -> Value {
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        metadata[field] = parent["metadata"][field].clone();
    }
    let replicas = |pointer: &str| parent.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    let mut scale = json!({
        "kind": "Scale", "apiVersion": VERSION, "metadata": metadata, "spec": {},
        "status": {"replicas": replicas("/status/replicas")},
    });
    if replicas("/spec/replicas") != 0 {
        scale["spec"]["replicas"] = json!(replicas("/spec/replicas"));
    }
    if let Ok(selector) = selector_of(kind, parent) {
        scale["status"]["selector"] = json!(selector.to_string());
    }
    scale
}

/// A ReplicationController selects by plain labels, everybody else by a selector.
fn selector_of(kind: &Kind, parent: &Value) -> Result<LabelSelector, FieldError> {
    let selector = &parent["spec"]["selector"];
    if kind.kind == "ReplicationController" {
        LabelSelector::from_labels(selector)
    } else {
        LabelSelector::from_object(selector)
    }
}
