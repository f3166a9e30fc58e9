//! The subresource `scale`.

use gantry_json::{Value, json};
use gantry_managed_fields::apply;
use gantry_managed_fields::ownership::{FieldSet, ManagedFields, ReplicasField, Write, track_update};
use gantry_patch::{self as patch, PatchKind};
use gantry_primitives::Refusal;
use gantry_registry::strategies;
use gantry_registry::table::{Headings, Layout, Printer, not_a_list, partial};
use gantry_registry::validation;
use gantry_schema::custom::Scaling;
use gantry_schema::decode::Finding;
use gantry_schema::kinds::{Kind, Nature, Verb};
use gantry_schema::schema::schema;
use gantry_schema::{decode, encode};
use http::Method;

use super::call::Call;
use super::patch::patch_kind;
use super::require_verb;
use super::update::{Ownership, check_namespace, check_uid, plan_update};
use super::write::{Part, WriteResult, warn};
use crate::accept::View;
use crate::error::ApiError;
use crate::query::{Validation, WriteOptions};
use crate::response::ApiResponse;

const VERSION: &str = "autoscaling/v1";
const GVK: decode::Gvk<'_> = decode::Gvk { group: "autoscaling", version: "v1", kind: "Scale" };

impl Call<'_> {
    pub(super) async fn scale(&self, method: &Method) -> Result<ApiResponse, ApiError> {
        let message = schema().find("autoscaling/v1.Scale").ok_or(ApiError::MethodNotAllowed)?;
        let nature = &Nature::from(message);
        match *method {
            Method::GET => {
                require_verb(self.kind, Verb::Get)?;
                let parent = self.server.objects.get(self.object_ref()).await?;
                self.render_scale(nature, &parent)
            }
            Method::PUT => self.put_scale(nature).await,
            Method::PATCH => self.patch_scale(nature).await,
            _ => Err(ApiError::MethodNotAllowed),
        }
    }

    async fn put_scale(&self, nature: &Nature) -> Result<ApiResponse, ApiError> {
        let options = self.info.query.write_options("UpdateOptions", self.info.user_agent())?;
        let decoded =
            decode::object(&self.body, self.format()?, GVK).map_err(|error| self.undecodable_scale(error))?;
        let findings = decoded.findings.clone();
        let wanted =
            if options.validation == Validation::Strict { decoded.strict(GVK)? } else { decoded.object };
        check_namespace(self, &mut wanted.clone())?;
        self.check_name(&wanted)?;
        let written = self.resize(nature, &options, |_| Ok((wanted.clone(), Ownership::ByChange))).await?;
        self.scale_response(nature, &written, &options, &findings)
    }

    async fn patch_scale(&self, nature: &Nature) -> Result<ApiResponse, ApiError> {
        let kind = patch_kind(self.kind, self.info)?;
        let options = self.info.query.write_options("PatchOptions", self.info.user_agent())?;
        let (body, mut findings) = self.patch_body(kind, &options)?;
        let now = self.server.environment.now().to_string();
        let reset = FieldSet::of_fields(&["status"]);
        let duplicates = findings.clone();
        let resized = self.resize(nature, &options, |scale| {
            let Some(kind) = kind else {
                let write = scale_write(nature, &options, &reset, &now);
                let applied = apply::apply(Some(scale), &body, &write, options.on_conflict())?;
                return Ok((applied.object, Ownership::AlreadyTracked));
            };
            let mut patched = patch::apply(kind, scale, nature, &body)?;
            let shown = patched.clone();
            let undecodable = |why: &str| patch::undecodable(kind, &body, &shown, why);
            if kind == PatchKind::Strategic {
                patched = decode::typed(patched, scale, nature).map_err(|why| undecodable(&why))?;
            } else {
                decode::check_kind(&patched, GVK, nature).map_err(|why| undecodable(&why))?;
            }
            let unknown = decode::members_without_version(&patched, nature);
            if unknown.is_some() {
                patched = json!({});
            }
            let decoded = decode::assembled(patched.clone(), nature).map_err(|why| undecodable(&why))?;
            let unknown = unknown.into_iter().flatten();
            findings = duplicates.iter().cloned().chain(unknown).chain(decoded.findings).collect();
            match decode::strict_problem(&findings).filter(|_| options.validation == Validation::Strict) {
                Some(problem) => Err(undecodable(&problem).into()),
                None => Ok((decoded.object, Ownership::ByChange)),
            }
        });
        match resized.await {
            Ok(written) => self.scale_response(nature, &written, &options, &findings),
            Err(error) if findings.is_empty() => Err(error),
            Err(error) => Ok(warn(ApiResponse::error(&error), &options, &findings)),
        }
    }

    /// The response to a write of a scale, with its warnings.
    fn scale_response(
        &self,
        nature: &Nature,
        written: &WriteResult,
        options: &WriteOptions,
        findings: &[Finding],
    ) -> Result<ApiResponse, ApiError> {
        let response = warn(self.render_scale(nature, &written.object)?, options, findings);
        Ok(written.add_warnings(response))
    }

    /// Changes the parent according to a changed Scale; returns the parent.
    async fn resize(
        &self,
        nature: &Nature,
        options: &WriteOptions,
        mut change: impl FnMut(&Value) -> Result<(Value, Ownership), ApiError> + Send,
    ) -> Result<WriteResult, ApiError> {
        let now = self.server.environment.now().to_string();
        let reset = FieldSet::of_fields(&["status"]);
        let changed = self.change(options, |stored| {
            let mut scale = self.scale_to_change(stored)?;
            let (owners, replicas) = (ManagedFields::of(stored), ReplicasField::of(&self.kind.nature));
            replicas.to_scale(&owners).store(&mut scale);
            let (mut wanted, ownership) = change(&scale)?;
            self.check_name(&wanted)?;
            check_namespace(self, &mut wanted)?;
            let mut parent = stored.clone();
            self.set_replicas(&mut parent, &wanted)?;
            let errors = validation::scale(&wanted).errors;
            if !errors.is_empty() {
                return Err(ApiError::invalid("Scale", "autoscaling", self.object_ref().name, &errors));
            }
            if ownership == Ownership::ByChange {
                track_update(Some(&scale), &mut wanted, &scale_write(nature, options, &reset, &now));
            }
            let owners = replicas.to_parent(&owners, &ManagedFields::of(&wanted), self.kind.api_version);
            for precondition in ["resourceVersion", "uid"] {
                parent["metadata"][precondition] = wanted["metadata"][precondition].clone();
            }
            owners.store(&mut parent);
            check_uid(self.object_ref(), stored, &parent)?;
            plan_update(self, stored, parent, Part::Main, options, Ownership::AlreadyTracked)
        });
        changed.await
    }

    /// Returns the error about a body that is no Scale; custom kinds have a different message.
    fn undecodable_scale(&self, error: Refusal) -> ApiError {
        match &self.kind.nature {
            Nature::BuiltIn(_) => error.into(),
            Nature::Custom(_) => ApiError::bad_request(
                "no kind is registered for the type v1.Scale in scheme \"pkg/apiserver/customresource_handler.go:781\"",
            ),
        }
    }

    /// Where a custom kind has its replicas; built-in kinds have them in `spec.replicas`.
    fn scaling(&self) -> Option<&Scaling> {
        match &self.kind.nature {
            Nature::BuiltIn(_) => None,
            Nature::Custom(custom) => custom.scaling.as_ref(),
        }
    }

    fn scale_to_change(&self, parent: &Value) -> Result<Value, ApiError> {
        Ok(match self.scaling() {
            Some(scaling) => scaling.scale_to_change(parent)?,
            None => scale_of(self.kind, parent),
        })
    }

    fn set_replicas(&self, parent: &mut Value, scale: &Value) -> Result<(), ApiError> {
        if let Some(scaling) = self.scaling() {
            return Ok(scaling.resize(parent, scale)?);
        }
        parent["spec"]["replicas"] = json!(scale["spec"]["replicas"].as_i64().unwrap_or(0));
        Ok(())
    }

    /// Renders the Scale of a workload in the negotiated representation.
    fn render_scale(&self, nature: &Nature, parent: &Value) -> Result<ApiResponse, ApiError> {
        let scale = match self.scaling() {
            Some(scaling) => scaling.scale_of(parent)?,
            None => scale_of(self.kind, parent),
        };
        Ok(match self.view {
            View::Plain | View::Discovery => ApiResponse::json(200, encode::object(&scale, nature)),
            View::Partial(version) => ApiResponse::value(200, partial(&scale, version)),
            View::PartialList(_) => return Err(not_a_list("autoscaling", "Scale").into()),
            View::Table(version) => {
                let layout = Layout { version, include: self.include()?, headings: Headings::Shown };
                let printer = Printer::of("autoscaling", "Scale");
                ApiResponse::value(200, printer.table_of_one(&scale, layout, self.server.environment.now()))
            }
        })
    }
}

/// The field ownership of a write to a Scale.
fn scale_write<'w>(
    nature: &'w Nature,
    options: &'w WriteOptions,
    reset: &'w FieldSet,
    now: &'w str,
) -> Write<'w> {
    let manager = &options.manager;
    Write { kind: "Scale", nature, api_version: VERSION, subresource: "scale", manager, reset, now }
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
    if let Ok(selector) = (strategies::of(kind).pod_selector)(parent) {
        scale["status"]["selector"] = json!(selector.to_string());
    }
    scale
}
