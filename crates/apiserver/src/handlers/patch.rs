//! JSON patch, merge patch, strategic merge patch and server-side apply.

use gantry_json::{Value, json};
use gantry_managed_fields::apply;
use gantry_patch::{self as patch, PatchKind};
use gantry_primitives::FieldError;
use gantry_registry::defaults;
use gantry_schema::decode::{self, Finding, Format, strict_problem};
use gantry_schema::kinds::{Kind, Nature, Verb};

use super::call::Call;
use super::require_verb;
use super::update::{
    Ownership, check_namespace, check_version_syntax, field_write, plan_update, reset_fields,
};
use super::write::{Part, remove_version};
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::query::{Validation, WriteOptions};
use crate::request_info::RequestInfo;
use crate::response::ApiResponse;

/// Returns the patch type; `None` is server-side apply.
pub(super) fn patch_kind(kind: &Kind, info: &RequestInfo) -> Result<Option<PatchKind>, ApiError> {
    Ok(match &*info.content_type {
        "application/json-patch+json" => Some(PatchKind::Json),
        "application/merge-patch+json" => Some(PatchKind::Merge),
        "application/strategic-merge-patch+json" if kind.nature.message().is_some() => {
            Some(PatchKind::Strategic)
        }
        "application/apply-patch+yaml" => None,
        "application/strategic-merge-patch+json" => return Err(patch::not_strategic().into()),
        _ => return Err(ApiError::UnknownPatchType),
    })
}

impl Call<'_> {
    pub(super) async fn patch(&self, part: Part) -> Result<ApiResponse, ApiError> {
        require_verb(self.kind, Verb::Patch)?;
        let kind = patch_kind(self.kind, self.info)?;
        let options = self.info.query.write_options("PatchOptions", self.info.user_agent())?;
        let (body, findings) = self.patch_body(kind, &options)?;
        match kind {
            Some(kind) => self.patch_by(kind, part, &options, &body, &findings).await,
            None => self.apply(part, &options, &body, &findings).await,
        }
    }

    /// Decodes the body of a patch and checks its options.
    pub(super) fn patch_body(
        &self,
        kind: Option<PatchKind>,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<Finding>), ApiError> {
        let wrong = match kind {
            Some(_) if options.force.is_some() => {
                Some(FieldError::forbidden("force", "may not be specified for non-apply patch"))
            }
            None if !options.manager_given => {
                Some(FieldError::required("fieldManager", "is required for apply patch"))
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(ApiError::invalid("PatchOptions", "meta.k8s.io", "", &[wrong]));
        }
        if let Some(kind) = kind {
            let (body, twice) = decode::plain(&self.body, Format::Json).map_err(|why| patch::unread(&why))?;
            let findings = patch::findings(kind, &body, twice);
            return Ok((body, findings));
        }
        let (statement, findings) = decode::plain(&self.body, Format::Yaml)
            .map_err(|problem| ApiError::bad_request(format!("error encoding patch: {problem}")))?;
        match findings.first().filter(|_| options.validation == Validation::Strict) {
            Some(twice) => Err(ApiError::bad_request(format!(
                "error strict decoding patch: error converting YAML to JSON: {twice}"
            ))),
            None => Ok((statement, findings)),
        }
    }

    async fn patch_by(
        &self,
        kind: PatchKind,
        part: Part,
        options: &WriteOptions,
        body: &Value,
        duplicates: &[Finding],
    ) -> Result<ApiResponse, ApiError> {
        let mut findings = Vec::new();
        let changed = self.change(options, |stored| {
            findings = duplicates.to_vec();
            let wanted = self.patched(kind, body, stored, options, &mut findings)?;
            self.check_version_present(&wanted)?;
            plan_update(self, stored, wanted, part, options, Ownership::ByChange)
        });
        let written = changed.await;
        self.respond(200, written, options, &findings)
    }

    /// Applies the patch to the stored object, decodes and defaults the result, and adds to the findings.
    fn patched(
        &self,
        kind: PatchKind,
        body: &Value,
        stored: &Value,
        options: &WriteOptions,
        findings: &mut Vec<Finding>,
    ) -> Result<Value, ApiError> {
        let mut patched = patch::apply(kind, stored, &self.kind.nature, body)?;
        // Only an error contains the patched object, so it is computed again for that instead of cloned.
        let undecodable = |why: &str| match patch::apply(kind, stored, &self.kind.nature, body) {
            Ok(patched) => patch::undecodable(kind, body, &patched, why),
            Err(refusal) => refusal,
        };
        let unchanged;
        if kind == PatchKind::Strategic {
            unchanged = decode::take_unchanged(&mut patched, stored, &self.kind.nature);
            patched = decode::typed(patched, stored, &self.kind.nature).map_err(|why| undecodable(&why))?;
        } else {
            decode::check_kind(&patched, self.gvk(), &self.kind.nature).map_err(|why| undecodable(&why))?;
            if let Some(unknown) = decode::members_without_version(&patched, &self.kind.nature) {
                findings.extend(unknown);
                patched = json!({});
            }
            unchanged = decode::take_unchanged(&mut patched, stored, &self.kind.nature);
        }
        let decoded = decode::patched(patched, stored, &self.kind.nature).map_err(|why| undecodable(&why))?;
        findings.extend(decoded.findings);
        if options.validation == Validation::Strict
            && let Some(problem) = strict_problem(findings)
        {
            return Err(undecodable(&problem).into());
        }
        let mut object = decoded.object;
        if let Value::Object(members) = &mut object {
            members.extend(unchanged);
        }
        self.check_name(&object)?;
        check_namespace(self, &mut object)?;
        if matches!(self.kind.nature, Nature::Custom(_)) {
            decode::custom::check_type(&object, self.gvk())?;
        }
        defaults::apply(self.kind, &mut object);
        Ok(object)
    }

    /// Server-side apply.
    async fn apply(
        &self,
        part: Part,
        options: &WriteOptions,
        statement: &Value,
        findings: &[Finding],
    ) -> Result<ApiResponse, ApiError> {
        let on_conflict = options.on_conflict();
        let (reset, now) = (reset_fields(self.kind, part), self.server.environment.now().to_string());
        let write = field_write(self, part, options, &reset, &now);
        let changed = self.change(options, |stored| {
            let applied = apply::apply(Some(stored), statement, &write, on_conflict)?;
            let wanted = self.applied(applied.object)?;
            self.check_version_present(&wanted)?;
            plan_update(self, stored, wanted, part, options, Ownership::AlreadyTracked)
        });
        let (status, written) = match changed.await {
            Err(ApiError::NotFound(_)) if part == Part::Main => {
                let applied = apply::apply(None, statement, &write, on_conflict)?;
                let mut object = self.applied(applied.object)?;
                self.check_absent_uid(&object)?;
                check_version_syntax(&object)?;
                remove_version(&mut object);
                object["metadata"]["name"] = json!(self.name);
                (201, self.create_object(object, options, Ownership::AlreadyTracked).await?)
            }
            other => (200, other?),
        };
        self.response(status, &written, options, findings)
    }

    /// Returns 409 if an object to be created has a uid.
    fn check_absent_uid(&self, object: &Value) -> Result<(), ApiError> {
        let uid = Metadata::of(object).uid();
        if uid.is_empty() {
            return Ok(());
        }
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        Err(ApiError::conflict(self.object_ref(), why))
    }

    fn applied(&self, object: Value) -> Result<Value, ApiError> {
        let decoded = decode::assembled(object, &self.kind.nature).map_err(ApiError::unclassified)?;
        let mut object = decoded.object;
        self.check_name(&object)?;
        check_namespace(self, &mut object)?;
        defaults::apply_to_applied(self.kind, &mut object);
        Ok(object)
    }
}
