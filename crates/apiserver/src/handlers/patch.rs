//! Patches of all four kinds.

use gantry_managed_fields::apply;
use gantry_patch::{self as patch, PatchKind};
use gantry_registry::decode::{self, Finding, Format, strict_problem};
use gantry_registry::kinds::{Nature, Verb};
use gantry_registry::{FieldError, Refusal, defaults};
use serde_json::{Value, json};

use super::allowed;
use super::call::Call;
use super::stored::{Ownership, check_number, check_place, reset_fields, settle, writing};
use super::write::{Part, forget_version};
use crate::answer::Answer;
use crate::query::{Validation, WriteOptions};

impl Call<'_> {
    pub(super) async fn patch(&self, part: Part) -> Result<Answer, Refusal> {
        allowed(self.kind, Verb::Patch)?;
        let kind = self.patch_kind()?;
        let options = self.query.write_options("PatchOptions", &self.user_agent)?;
        let (body, findings) = self.patch_body(kind, &options)?;
        match kind {
            Some(kind) => self.patch_by(kind, part, &options, &body, &findings).await,
            None => self.apply(part, &options, &body, &findings).await,
        }
    }

    /// Which kind of patch it is; `None` is server-side apply.
    pub(super) fn patch_kind(&self) -> Result<Option<PatchKind>, Refusal> {
        Ok(match self.content_type.as_str() {
            "application/json-patch+json" => Some(PatchKind::Json),
            "application/merge-patch+json" => Some(PatchKind::Merge),
            "application/strategic-merge-patch+json" if self.kind.nature.message().is_some() => {
                Some(PatchKind::Strategic)
            }
            "application/apply-patch+yaml" => None,
            "application/strategic-merge-patch+json" => return Err(patch::not_strategic()),
            _ => return Err(unsupported()),
        })
    }

    /// The body of a patch, and what is odd about it, if its options make sense.
    pub(super) fn patch_body(
        &self,
        kind: Option<PatchKind>,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<Finding>), Refusal> {
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
            return Err(Refusal::invalid("PatchOptions", "meta.k8s.io", "", &[wrong]));
        }
        if let Some(kind) = kind {
            let (body, twice) = decode::plain(&self.body, Format::Json).map_err(|why| patch::unread(&why))?;
            let findings = patch::findings(kind, &body, twice);
            return Ok((body, findings));
        }
        let (statement, findings) = decode::plain(&self.body, Format::Yaml)
            .map_err(|problem| Refusal::bad_request(format!("error encoding patch: {problem}")))?;
        match findings.first().filter(|_| options.validation == Validation::Strict) {
            Some(twice) => Err(Refusal::bad_request(format!(
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
    ) -> Result<Answer, Refusal> {
        let mut findings = Vec::new();
        let changed = self.change(options, |stored| {
            findings = duplicates.to_vec();
            let wanted = self.patched(kind, body, stored, options, &mut findings)?;
            settle(self, stored, wanted, part, options, Ownership::ByChange)
        });
        let written = changed.await;
        self.answer_or_refuse(200, written, options, &findings)
    }

    /// The stored object as the patch wants it, decoded and with defaults; what was ignored is added to the findings.
    fn patched(
        &self,
        kind: PatchKind,
        body: &Value,
        stored: &Value,
        options: &WriteOptions,
        findings: &mut Vec<Finding>,
    ) -> Result<Value, Refusal> {
        let mut patched = patch::apply(kind, stored, &self.kind.nature, body)?;
        // Only a refusal shows the patched object, so it is made again for that and not kept for everybody.
        let undecodable = |why: &str| match patch::apply(kind, stored, &self.kind.nature, body) {
            Ok(patched) => patch::undecodable(kind, body, &patched, why),
            Err(refusal) => refusal,
        };
        decode::check_kind(&patched, self.gvk(), &self.kind.nature).map_err(|why| undecodable(&why))?;
        if kind == PatchKind::Strategic {
            if let Some(why) = decode::type_mismatch(&patched, &self.kind.nature) {
                return Err(undecodable(&why));
            }
            patched = decode::wrap_int32(patched, &self.kind.nature);
        }
        let decoded = decode::assembled(patched, &self.kind.nature).map_err(|why| undecodable(&why))?;
        findings.extend(decoded.findings);
        if options.validation == Validation::Strict
            && let Some(problem) = strict_problem(findings)
        {
            return Err(undecodable(&problem));
        }
        let mut object = decoded.object;
        self.check_name(&object)?;
        check_place(self, &mut object)?;
        if matches!(self.kind.nature, Nature::Custom(_)) {
            decode::custom::check_type(&object, self.gvk())?;
        }
        defaults::apply(self.kind, &mut object);
        Ok(object)
    }

    /// Server-side apply: what a manager states, merged with what others do.
    async fn apply(
        &self,
        part: Part,
        options: &WriteOptions,
        statement: &Value,
        findings: &[Finding],
    ) -> Result<Answer, Refusal> {
        let on_conflict = options.on_conflict();
        let (reset, now) = (reset_fields(self.kind, part), self.server.surroundings.now().to_string());
        let write = writing(self, part, options, &reset, &now);
        let changed = self.change(options, |stored| {
            let applied = apply::apply(Some(stored), statement, &write, on_conflict)?;
            let wanted = self.applied(applied.object)?;
            settle(self, stored, wanted, part, options, Ownership::Settled)
        });
        let (status, written) = match changed.await {
            Err(absent) if absent.code == 404 && part == Part::Main => {
                let applied = apply::apply(None, statement, &write, on_conflict)?;
                let mut object = self.applied(applied.object)?;
                self.check_absent_uid(&object)?;
                check_number(&object)?;
                forget_version(&mut object);
                object["metadata"]["name"] = json!(self.name);
                (201, self.create_object(object, options, Ownership::Settled).await?)
            }
            other => (200, other?),
        };
        self.answer(status, &written, options, findings)
    }

    /// Whoever names a uid means an object that exists.
    fn check_absent_uid(&self, object: &Value) -> Result<(), Refusal> {
        let Some(uid) = object["metadata"]["uid"].as_str() else { return Ok(()) };
        let place = self.place();
        let message = format!(
            "Operation cannot be fulfilled on {} \"{}\": uid mismatch: the provided object specified uid {uid}, and no \
             existing object was found",
            place.kind.group_resource(),
            place.name
        );
        let details = Some(Box::new(place.details()));
        Err(Refusal { code: 409, reason: "Conflict", message, details })
    }

    fn applied(&self, object: Value) -> Result<Value, Refusal> {
        let decoded = decode::assembled(object, &self.kind.nature).map_err(Refusal::server_error)?;
        let mut object = decoded.object;
        self.check_name(&object)?;
        check_place(self, &mut object)?;
        defaults::apply_to_applied(self.kind, &mut object);
        Ok(object)
    }
}

/// The content type is of no patch that is known.
pub(super) fn unsupported() -> Refusal {
    Refusal {
        code: 415,
        reason: "UnsupportedMediaType",
        message: "415: Unsupported Media Type".to_owned(),
        details: Some(Box::default()),
    }
}
