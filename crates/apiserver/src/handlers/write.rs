//! Create and update.

use gantry_registry::decode::{self, Finding, strict_problem};
use gantry_registry::kinds::{BlindPut, PutAbsent, Scope, Verb, kinds};
use gantry_registry::lifecycle::{self, Stamp};
use gantry_registry::ownership::track_update;
use gantry_registry::validation::{self, Judged};
use gantry_registry::{Cause, Details, FieldError, Refusal, defaults};
use serde_json::{Value, json};

use super::allowed;
use super::call::Call;
use super::stored::{Ownership, check_place, reset_fields, settle, writing};
use crate::answer::Answer;
use crate::objects::{Change, Outcome, Place};
use crate::query::{Validation, WriteOptions};

/// Which part of an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Status,
}

/// How often a name is made up before giving up.
const NAME_ATTEMPTS: usize = 8;

impl Call<'_> {
    pub(super) async fn create(&self) -> Result<Answer, Refusal> {
        let options = self.query.write_options("CreateOptions", &self.user_agent)?;
        let (object, findings) = self.decoded(&options)?;
        if !object["metadata"]["resourceVersion"].as_str().unwrap_or_default().is_empty() {
            return Err(Refusal::server_error("resourceVersion should not be set on objects to be created"));
        }
        let created = self.create_object(object, &options, Ownership::ByChange).await?;
        Ok(warn(self.render(201, &created)?, &options, &findings))
    }

    /// Stores a new object, decoded and in its place.
    pub(super) async fn create_object(
        &self,
        mut object: Value,
        options: &WriteOptions,
        ownership: Ownership,
    ) -> Result<Value, Refusal> {
        if self.kind.scope == Scope::Namespaced && self.namespace.is_none() {
            return Err(super::method_not_allowed());
        }
        check_place(self, &mut object)?;
        self.check_namespace(&object).await?;
        defaults::apply(self.kind, &mut object);
        let surroundings = &self.server.surroundings;
        let now = surroundings.now();
        if ownership == Ownership::ByChange {
            let (reset, now) = (reset_fields(self.kind, Part::Main), now.to_string());
            track_update(None, &mut object, &writing(self, Part::Main, options, &reset, &now));
        }
        let is_generated = object["metadata"]["name"].as_str().unwrap_or_default().is_empty();
        let attempts = if is_generated { NAME_ATTEMPTS } else { 1 };
        let mut refusal = None;
        for _ in 0..attempts {
            let (uid, suffix) = (surroundings.uid(), surroundings.name_suffix());
            let mut stamped =
                lifecycle::create(object.clone(), self.kind, &Stamp { uid: &uid, now, name_suffix: &suffix });
            defaults::on_create(self.kind, &mut stamped);
            let name = stamped["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            self.judged(&name, &validation::create(self.kind, &stamped))?;
            if options.dry_run {
                return Ok(stamped);
            }
            match self.server.objects.create(self.place_of(&name), &stamped).await {
                Err(exists) if exists.reason == "AlreadyExists" => refusal = Some(exists),
                other => return other,
            }
        }
        Err(refusal.unwrap_or_else(|| Refusal::server_error("no name was tried")))
    }

    pub(super) async fn put(&self, part: Part) -> Result<Answer, Refusal> {
        allowed(self.kind, Verb::Update)?;
        let options = self.query.write_options("UpdateOptions", &self.user_agent)?;
        let (mut object, findings) = self.decoded(&options)?;
        self.check_name(&object)?;
        check_place(self, &mut object)?;
        defaults::apply(self.kind, &mut object);
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if self.kind.blind_put == BlindPut::Refused && matches!(version, "" | "0") {
            let wrong =
                FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
            let name = self.name.unwrap_or_default();
            return Err(Refusal::invalid(self.kind.resource, self.kind.group, name, &[wrong]));
        }
        let written = self.change(&options, |stored| {
            settle(self, stored, object.clone(), part, &options, Ownership::ByChange)
        });
        let (status, object) = match written.await {
            Err(absent)
                if absent.code == 404 && self.kind.put_absent == PutAbsent::Creates && part == Part::Main =>
            {
                if let Some(metadata) = object["metadata"].as_object_mut() {
                    metadata.remove("resourceVersion");
                }
                (201, self.create_object(object, &options, Ownership::ByChange).await?)
            }
            other => (200, other?),
        };
        Ok(warn(self.render(status, &object)?, &options, &findings))
    }

    /// Changes an object that exists, or only says what would become of it.
    pub(super) async fn change(
        &self,
        options: &WriteOptions,
        mut decide: impl FnMut(&Value) -> Result<(Change, Option<Value>), Refusal>,
    ) -> Result<Value, Refusal> {
        let mut shown = None;
        let outcome = self.server.objects.change(self.place(), |stored| {
            let (change, instead) = decide(stored)?;
            shown = instead;
            if !options.dry_run {
                return Ok(change);
            }
            if let Change::Store(object) = change {
                shown = Some(object);
            }
            Ok(Change::Keep)
        });
        let outcome = outcome.await?;
        Ok(shown.unwrap_or(match outcome {
            Outcome::Kept(object) | Outcome::Stored(object) | Outcome::Removed(object) => object,
        }))
    }

    /// Refuses an object with which something is wrong.
    pub(super) fn judged(&self, name: &str, judged: &Judged) -> Result<(), Refusal> {
        if judged.errors.is_empty() {
            return Ok(());
        }
        Err(Refusal::invalid(self.kind.kind, self.kind.group, name, &judged.errors))
    }

    /// The object in the body, and what was ignored in it.
    fn decoded(&self, options: &WriteOptions) -> Result<(Value, Vec<Finding>), Refusal> {
        let decoded = decode::object(&self.body, self.format()?, self.gvk())?;
        if options.validation == Validation::Strict {
            return decoded.strict(self.gvk()).map(|object| (object, Vec::new()));
        }
        Ok((decoded.object, decoded.findings))
    }

    /// The name in the body must be the one in the path.
    pub(super) fn check_name(&self, object: &Value) -> Result<(), Refusal> {
        let (name, wanted) =
            (object["metadata"]["name"].as_str().unwrap_or_default(), self.name.unwrap_or_default());
        if name.is_empty() {
            let message = format!(
                "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
            );
            return Err(Refusal::bad_request(message));
        }
        if name != wanted {
            let message =
                format!("the name of the object ({name}) does not match the name on the URL ({wanted})");
            return Err(Refusal::bad_request(message));
        }
        Ok(())
    }

    /// New objects need a namespace that exists and is not on its way out.
    async fn check_namespace(&self, object: &Value) -> Result<(), Refusal> {
        let Some(namespace) = self.namespace else { return Ok(()) };
        let Some(kind) = kinds().resource("", "v1", "namespaces") else { return Ok(()) };
        let found = self.server.objects.get(Place { kind, namespace: None, name: namespace }).await?;
        if found["metadata"]["deletionTimestamp"].is_null() {
            return Ok(());
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let message = format!(
            "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being \
             terminated",
            self.kind.group_resource()
        );
        let cause = Cause {
            reason: "NamespaceTerminating",
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_owned(),
        };
        let details = Details { causes: vec![cause], ..self.place_of(name).details() };
        Err(Refusal { code: 403, reason: "Forbidden", message, details: Some(Box::new(details)) })
    }
}

/// Tells what was ignored.
pub(super) fn warn(answer: Answer, options: &WriteOptions, findings: &[Finding]) -> Answer {
    if options.validation != Validation::Warn || strict_problem(findings).is_none() {
        return answer;
    }
    findings.iter().fold(answer, |answer, finding| answer.warning(&finding.to_string()))
}
