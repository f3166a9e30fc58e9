//! Deletion of one object, or of all that match.

use gantry_registry::kinds::{DeleteAnswer, Verb};
use gantry_registry::lifecycle::{self, DeleteOptions, Deletion};
use gantry_registry::paging::{ListOptions, integer};
use gantry_registry::{Details, Refusal, decode};
use serde_json::{Value, json};

use super::call::Call;
use super::{allowed, read};
use crate::answer::Answer;
use crate::objects::{Change, Outcome, Place};

impl Call<'_> {
    pub(super) async fn delete(&self) -> Result<Answer, Refusal> {
        allowed(self.kind, Verb::Delete)?;
        let options = self.delete_options()?;
        let dry_run = self.query.write_options("DeleteOptions", &self.user_agent)?.dry_run;
        let outcome = self.delete_object(self.place(), &options, dry_run).await?;
        match outcome {
            Outcome::Removed(object) => match self.kind.deleted {
                DeleteAnswer::Object => self.render(200, &object),
                DeleteAnswer::Status => Ok(Answer::value(200, &self.gone(&object))),
            },
            Outcome::Kept(object) | Outcome::Stored(object) => {
                self.render(if options.legacy_background { 202 } else { 200 }, &object)
            }
        }
    }

    pub(super) async fn delete_collection(&self) -> Result<Answer, Refusal> {
        let options = self.delete_options()?;
        let dry_run = self.query.write_options("DeleteOptions", &self.user_agent)?.dry_run;
        let list_options = ListOptions::read(&self.query.0, self.kind.group, self.kind.kind)?;
        let found = read::list(self, &list_options).await?;
        for object in &found.items {
            let text = |field: &str| object["metadata"][field].as_str();
            let place = Place {
                kind: self.kind,
                namespace: text("namespace"),
                name: text("name").unwrap_or_default(),
            };
            match self.delete_object(place, &options, dry_run).await {
                Err(refusal) if refusal.code != 404 => return Err(refusal),
                Ok(_) | Err(_) => {}
            }
        }
        self.render_list(&found.metadata, &found.items)
    }

    async fn delete_object(
        &self,
        place: Place<'_>,
        options: &DeleteOptions,
        dry_run: bool,
    ) -> Result<Outcome, Refusal> {
        let now = self.server.surroundings.now();
        let mut would = None;
        let outcome = self.server.objects.change(place, |stored| {
            self.check_preconditions(place, stored, options)?;
            let change = match lifecycle::delete(stored, options, self.kind, now) {
                Deletion::Unchanged => Change::Keep,
                Deletion::Linger(object) => Change::Store(object),
                Deletion::Remove(before) => Change::Remove(before),
            };
            if !dry_run {
                return Ok(change);
            }
            would = Some(match change {
                Change::Keep => Outcome::Kept(stored.clone()),
                Change::Store(object) => Outcome::Stored(object),
                Change::Remove(before) => Outcome::Removed(before.unwrap_or_else(|| stored.clone())),
            });
            Ok(Change::Keep)
        });
        let outcome = outcome.await?;
        Ok(would.unwrap_or(outcome))
    }

    fn check_preconditions(
        &self,
        place: Place<'_>,
        stored: &Value,
        options: &DeleteOptions,
    ) -> Result<(), Refusal> {
        let text = |field: &str| stored["metadata"][field].as_str().unwrap_or_default();
        let problem = match (&options.uid, &options.resource_version) {
            (Some(uid), _) if uid != text("uid") => format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                text("uid")
            ),
            (_, Some(version)) if version != text("resourceVersion") => format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
                 The object might have been modified",
                text("resourceVersion")
            ),
            _ => return Ok(()),
        };
        let message =
            format!("Operation cannot be fulfilled on {} \"{}\": {problem}", self.kind.kind, place.name);
        let details = Details { kind: self.kind.kind.to_owned(), ..place.details() };
        Err(Refusal { code: 409, reason: "Conflict", message, details: Some(Box::new(details)) })
    }

    /// Options from the body, or from the query where there is none.
    fn delete_options(&self) -> Result<DeleteOptions, Refusal> {
        if !self.body.is_empty() {
            let options =
                decode::delete_options(&self.body, self.format()?, self.kind.group, self.kind.version)?;
            return DeleteOptions::parse(&options);
        }
        let mut options = json!({});
        if let Some(seconds) = self.query.first("gracePeriodSeconds") {
            options["gracePeriodSeconds"] = json!(integer(seconds)?);
        }
        if let Some(policy) = self.query.first("propagationPolicy") {
            options["propagationPolicy"] = json!(policy);
        }
        if self.query.first("orphanDependents").is_some() {
            options["orphanDependents"] = json!(self.query.flag("orphanDependents"));
        }
        if let Some(uid) = self.query.first("uid") {
            options["preconditions"] = json!({"uid": uid});
        }
        DeleteOptions::parse(&options)
    }

    /// What is said of an object that is gone.
    fn gone(&self, object: &Value) -> Value {
        let mut details = json!({
            "name": object["metadata"]["name"], "kind": self.kind.resource, "uid": object["metadata"]["uid"],
        });
        if !self.kind.group.is_empty() {
            details["group"] = json!(self.kind.group);
        }
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
    }
}
