//! Patches of all four kinds.

use gantry_registry::apply::{self, OnConflict};
use gantry_registry::decode::{self, Finding, Format, strict_problem};
use gantry_registry::kinds::Verb;
use gantry_registry::patch::{self, PatchKind};
use gantry_registry::{FieldError, Refusal, defaults};
use serde_json::{Value, json};

use super::allowed;
use super::call::Call;
use super::stored::{Ownership, reset_fields, settle, writing};
use super::write::{Part, warn};
use crate::answer::Answer;
use crate::query::{Validation, WriteOptions};

impl Call<'_> {
    pub(super) async fn patch(&self, part: Part) -> Result<Answer, Refusal> {
        allowed(self.kind, Verb::Patch)?;
        let kind = match self.content_type.as_str() {
            "application/json-patch+json" => Some(PatchKind::Json),
            "application/merge-patch+json" => Some(PatchKind::Merge),
            "application/strategic-merge-patch+json" => Some(PatchKind::Strategic),
            "application/apply-patch+yaml" => None,
            _ => return Err(unsupported()),
        };
        let options = self.query.write_options("PatchOptions", &self.user_agent)?;
        match kind {
            Some(kind) => self.patch_by(kind, part, &options).await,
            None => self.apply(part, &options).await,
        }
    }

    async fn patch_by(&self, kind: PatchKind, part: Part, options: &WriteOptions) -> Result<Answer, Refusal> {
        if options.force.is_some() {
            let wrong = FieldError::forbidden("force", "may not be specified for non-apply patch");
            return Err(Refusal::invalid("PatchOptions", "meta.k8s.io", "", &[wrong]));
        }
        let (body, duplicates) = decode::plain(&self.body, Format::Json).map_err(|problem| match kind {
            PatchKind::Json => patch::not_json(),
            PatchKind::Merge | PatchKind::Strategic => Refusal::bad_request(problem),
        })?;
        let mut findings = Vec::new();
        let changed = self.change(options, |stored| {
            let (wanted, found) = self.patched(kind, &body, stored, options, &duplicates)?;
            findings = found;
            settle(self, stored, wanted, part, options, Ownership::ByChange)
        });
        let object = changed.await?;
        Ok(warn(self.render(200, &object)?, options, &findings))
    }

    /// The stored object as the patch wants it, decoded and with defaults.
    fn patched(
        &self,
        kind: PatchKind,
        body: &Value,
        stored: &Value,
        options: &WriteOptions,
        duplicates: &[Finding],
    ) -> Result<(Value, Vec<Finding>), Refusal> {
        let patched = patch::apply(kind, stored, self.kind.message, body)?;
        let undecodable = |why: &str| patch::undecodable(kind, body, &patched, why);
        let decoded = decode::value(patched.clone(), self.kind.message).map_err(|why| undecodable(&why))?;
        let findings: Vec<_> = duplicates.iter().cloned().chain(decoded.findings).collect();
        if options.validation == Validation::Strict
            && let Some(problem) = strict_problem(&findings)
        {
            return Err(undecodable(&problem));
        }
        let mut object = decoded.object;
        self.check_name(&object)?;
        self.check_uid(stored, &object)?;
        defaults::apply(self.kind, &mut object);
        Ok((object, findings))
    }

    /// A patch that names another uid means another object.
    fn check_uid(&self, stored: &Value, wanted: &Value) -> Result<(), Refusal> {
        let (uid, known) = (&wanted["metadata"]["uid"], &stored["metadata"]["uid"]);
        if uid.is_null() || uid == known {
            return Ok(());
        }
        let wrong = FieldError::invalid("metadata.uid", uid, "field is immutable");
        Err(Refusal::invalid(self.kind.kind, self.kind.group, self.name.unwrap_or_default(), &[wrong]))
    }

    /// Server-side apply: what a manager states, merged with what others do.
    async fn apply(&self, part: Part, options: &WriteOptions) -> Result<Answer, Refusal> {
        if !options.manager_given {
            let wrong = FieldError::required("fieldManager", "is required for apply patch");
            return Err(Refusal::invalid("PatchOptions", "meta.k8s.io", "", &[wrong]));
        }
        let (statement, findings) = decode::plain(&self.body, Format::Yaml)
            .map_err(|problem| Refusal::bad_request(format!("error decoding YAML: {problem}")))?;
        let on_conflict = if options.force == Some(true) { OnConflict::Force } else { OnConflict::Refuse };
        let (reset, now) = (reset_fields(self.kind, part), self.server.surroundings.now().to_string());
        let write = writing(self, part, options, &reset, &now);
        let changed = self.change(options, |stored| {
            let applied = apply::apply(Some(stored), &statement, &write, on_conflict)?;
            let wanted = self.applied(applied.object)?;
            settle(self, stored, wanted, part, options, Ownership::Settled)
        });
        let (status, object) = match changed.await {
            Err(absent) if absent.code == 404 && part == Part::Main => {
                let applied = apply::apply(None, &statement, &write, on_conflict)?;
                let mut object = self.applied(applied.object)?;
                object["metadata"]["name"] = json!(self.name);
                (201, self.create_object(object, options, Ownership::Settled).await?)
            }
            other => (200, other?),
        };
        Ok(warn(self.render(status, &object)?, options, &findings))
    }

    fn applied(&self, object: Value) -> Result<Value, Refusal> {
        let decoded = decode::value(object, self.kind.message).map_err(Refusal::server_error)?;
        let mut object = decoded.object;
        self.check_name(&object)?;
        defaults::apply(self.kind, &mut object);
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
