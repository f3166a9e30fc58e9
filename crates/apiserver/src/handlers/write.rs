//! Create and update.

use gantry_managed_fields::ownership::track_update;
use gantry_registry::decode::{self, Finding, Format, KeyOrder, strict_problem};
use gantry_registry::kinds::{BlindPut, Nature, PutAbsent, Scope, Verb};
use gantry_registry::lifecycle::{self, Stamp};
use gantry_registry::validation::{self, Judged};
use gantry_registry::{Details, FieldError, Refusal, conversion, defaults};
use serde_json::{Value, json};

pub(super) use gantry_registry::lifecycle::Part;

use super::allowed;
use super::call::Call;
use super::stored::{
    Ownership, Settled, check_number, check_place, check_uid, reset_fields, settle, writing,
};
use crate::admission::{self, Refused};
use crate::answer::Answer;
use crate::objects::{Change, Shown};
use crate::query::{Validation, WriteOptions};

/// What a write came to.
pub(super) struct Written {
    pub(super) shown: Shown,
    /// What is odd about the object, for people to see.
    pub(super) warnings: Vec<String>,
}

impl Written {
    /// The answer, with what is odd about the object.
    pub(super) fn tell(&self, answer: Answer) -> Answer {
        self.warnings.iter().fold(answer, |answer, warning| answer.warning(warning))
    }
}

/// How often a name is made up before giving up.
const NAME_ATTEMPTS: usize = 8;

impl Call<'_> {
    pub(super) async fn create(&self) -> Result<Answer, Refusal> {
        if self.kind.scope == Scope::Namespaced && self.namespace.is_none() {
            return Err(super::method_not_allowed());
        }
        let options = self.query.write_options("CreateOptions", &self.user_agent)?;
        let (object, findings) = self.decoded(&options)?;
        let written = self.create_object(object, &options, Ownership::ByChange).await;
        self.answer_or_refuse(201, written, &options, &findings)
    }

    /// Stores a new object, decoded and in its place.
    pub(super) async fn create_object(
        &self,
        mut object: Value,
        options: &WriteOptions,
        ownership: Ownership,
    ) -> Result<Written, Refusal> {
        check_place(self, &mut object)?;
        lifecycle::disown(&mut object);
        let grounds = admission::grounds(&self.server.objects, self.place(), &object).await?;
        self.check_creation(&object)?;
        let twice = validation::fold_owners(&mut object);
        if ownership == Ownership::ByChange {
            defaults::apply(self.kind, &mut object);
        }
        let surroundings = &self.server.surroundings;
        let now = surroundings.now();
        if ownership == Ownership::ByChange {
            let (reset, now) = (reset_fields(self.kind, Part::Main), now.to_string());
            track_update(None, &mut object, &writing(self, Part::Main, options, &reset, &now));
        }
        let is_generated = object["metadata"]["name"].as_str().unwrap_or_default().is_empty();
        let mut attempts_left = if is_generated { NAME_ATTEMPTS } else { 1 };
        loop {
            attempts_left -= 1;
            let (uid, suffix) = (surroundings.uid(), surroundings.name_suffix());
            let stamp = Stamp { uid: &uid, now, name_suffix: &suffix };
            // The last attempt needs the object no more.
            let template = if attempts_left == 0 { std::mem::take(&mut object) } else { object.clone() };
            let mut stamped = lifecycle::create(template, self.kind, &stamp);
            let name = stamped["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let place = self.place_of(&name);
            admission::create(self.server, place, &mut stamped).await?;
            defaults::on_create(self.kind, &mut stamped);
            let mut warnings: Vec<String> = twice.iter().cloned().collect();
            let judge = |order: &KeyOrder| validation::create_in_order(self.kind, &stamped, order);
            match self.judged(&name, judge) {
                Ok(found) => warnings.extend(found),
                Err(why) => {
                    let refused = Refused { object: stamped, why };
                    return Err(self.server.objects.refusal(place, None, refused, options.allotment()).await);
                }
            }
            if !options.dry_run {
                check_unversioned(&stamped)?;
                forget_version(&mut stamped);
                warnings.extend(self.uncontrolled());
            }
            let stored = if options.dry_run {
                admission::would_store(self.server, place, stamped).await
            } else {
                admission::store(self.server, place, stamped, &grounds).await
            };
            match stored {
                Err(exists) if exists.reason == "AlreadyExists" && is_generated => {
                    if attempts_left == 0 {
                        return Err(no_unique_name(exists));
                    }
                }
                other => return other.map(|shown| Written { shown, warnings }),
            }
        }
    }

    /// The warning about a new object that no controller acts on, so that waiting for its status is not a surprise.
    fn uncontrolled(&self) -> Option<String> {
        let mut kinds = self.server.settings.uncontrolled.iter();
        let found = kinds.find(|it| it.group == self.kind.group && it.kind == self.kind.kind);
        found.map(|kind| kind.warning())
    }

    pub(super) async fn put(&self, part: Part) -> Result<Answer, Refusal> {
        allowed(self.kind, Verb::Update)?;
        let options = self.query.write_options("UpdateOptions", &self.user_agent)?;
        let (object, findings) = self.decoded(&options)?;
        let object = match self.put_object(object) {
            Ok(object) => object,
            Err(refusal) => return self.answer_or_refuse(200, Err(refusal), &options, &findings),
        };
        // Whoever is overtaken reads the body again; almost nobody is.
        let mut unused = Some(object);
        let written = self.change(&options, |stored| {
            let object = match unused.take() {
                Some(object) => object,
                None => self.put_object(self.decoded(&options)?.0)?,
            };
            check_uid(self.place(), stored, &object)?;
            self.check_blind(&object)?;
            settle(self, stored, object, part, &options, Ownership::ByChange)
        });
        let (status, written) = match (written.await, unused) {
            (Err(absent), Some(mut object))
                if absent.code == 404 && self.kind.put_absent == PutAbsent::Creates && part == Part::Main =>
            {
                check_number(&object)?;
                forget_version(&mut object);
                (201, self.create_object(object, &options, Ownership::ByChange).await)
            }
            (other, _) => (200, other),
        };
        self.answer_or_refuse(status, written, &options, &findings)
    }

    /// The object in the body of an update, in its place and with defaults.
    fn put_object(&self, mut object: Value) -> Result<Value, Refusal> {
        self.check_name(&object)?;
        check_place(self, &mut object)?;
        defaults::apply(self.kind, &mut object);
        Ok(object)
    }

    /// Some kinds are only overwritten by those who say what they saw.
    fn check_blind(&self, object: &Value) -> Result<(), Refusal> {
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if self.kind.blind_put != BlindPut::Refused || !matches!(version, "" | "0") {
            return Ok(());
        }
        let wrong =
            FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
        Err(Refusal::invalid(self.kind.resource, self.kind.group, self.name.unwrap_or_default(), &[wrong]))
    }

    /// Changes an object that exists, or only says what would become of it.
    pub(super) async fn change(
        &self,
        options: &WriteOptions,
        mut decide: impl FnMut(&Value) -> Result<Settled, Refusal>,
    ) -> Result<Written, Refusal> {
        let (mut instead, mut warnings, mut tried, mut refused) = (None, Vec::new(), None, None);
        let objects = &self.server.objects;
        let outcome = objects.change(self.place(), |stored| {
            let settled = decide(stored)?;
            (instead, warnings) = (settled.shown, settled.warnings);
            refused = settled.refused.map(|refused| (stored.clone(), refused));
            if !options.dry_run {
                return Ok(settled.change);
            }
            if let Change::Store(object) = settled.change {
                tried = Some(stored.clone());
                instead = Some(object);
            }
            Ok(Change::Keep)
        });
        let outcome = outcome.await?;
        if let Some((stored, refused)) = refused {
            return Err(objects.refusal(self.place(), Some(&stored), refused, options.allotment()).await);
        }
        if let (Some(before), Some(after)) = (&tried, &mut instead) {
            objects.would_allot(self.place(), Some(before), after).await?;
            admission::quota::differences(objects, self.place(), before, after).await?;
        }
        let shown = instead.map_or_else(|| outcome.into_shown(), Shown::from);
        Ok(Written { shown, warnings })
    }

    /// The answer to a write, with all that is odd about it.
    pub(super) fn answer(
        &self,
        status: u16,
        written: &Written,
        options: &WriteOptions,
        findings: &[Finding],
    ) -> Result<Answer, Refusal> {
        let answer = warn(self.render_shown(status, &written.shown)?, options, findings);
        Ok(written.tell(answer))
    }

    /// The answer to a write, or the refusal of it; what was ignored is told in either case.
    pub(super) fn answer_or_refuse(
        &self,
        status: u16,
        written: Result<Written, Refusal>,
        options: &WriteOptions,
        findings: &[Finding],
    ) -> Result<Answer, Refusal> {
        match written {
            Ok(written) => self.answer(status, &written, options, findings),
            Err(refusal) if findings.is_empty() => Err(refusal),
            Err(refusal) => Ok(warn(Answer::refused(&refusal), options, findings)),
        }
    }

    /// Refuses an object with which something is wrong; what is only odd is returned.
    ///
    /// Only errors depend on the order of keys, so what is right is judged once.
    pub(super) fn judged(
        &self,
        name: &str,
        judge: impl Fn(&KeyOrder) -> Judged,
    ) -> Result<Vec<String>, Refusal> {
        let mut judged = judge(&KeyOrder::default());
        if judged.errors.is_empty() {
            return Ok(judged.warnings);
        }
        let order = self.key_order();
        if !order.is_alphabetical() {
            judged = judge(&order);
        }
        let kind = conversion::stored_kind(self.kind).unwrap_or(self.kind);
        Err(Refusal::invalid(kind.kind, kind.group, name, &judged.errors))
    }

    /// The order of the keys in the body, if it is an object in JSON. Everything else is sorted before it is read.
    fn key_order(&self) -> KeyOrder {
        match self.format() {
            Ok(Format::Json) => KeyOrder::of_json(&self.body),
            _ => KeyOrder::default(),
        }
    }

    /// The object in the body, and what was ignored in it.
    pub(super) fn decoded(&self, options: &WriteOptions) -> Result<(Value, Vec<Finding>), Refusal> {
        let decoded = match &self.kind.nature {
            Nature::BuiltIn(_) => decode::object(&self.body, self.format()?, self.gvk())?,
            Nature::Custom(custom) => {
                self.check_conversion()?;
                decode::custom::object(&self.body, self.text_format()?, self.gvk(), custom)?
            }
        };
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
}

/// A new object has no version yet; text that is no version is ignored.
fn check_unversioned(object: &Value) -> Result<(), Refusal> {
    let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    match version.parse::<u64>() {
        Ok(1..) => Err(Refusal::server_error("resourceVersion should not be set on objects to be created")),
        Ok(0) | Err(_) => Ok(()),
    }
}

/// Removes the version that a client wrote: the store gives an object its own.
pub(super) fn forget_version(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
}

/// Every name that was made up is taken.
fn no_unique_name(exists: Refusal) -> Refusal {
    let message =
        format!("{}, the server was not able to generate a unique name for the object", exists.message);
    let details = exists.details.map(|details| Box::new(Details { retry_after_seconds: 1, ..*details }));
    Refusal { message, details, ..exists }
}

/// Tells what was ignored.
pub(super) fn warn(answer: Answer, options: &WriteOptions, findings: &[Finding]) -> Answer {
    if options.validation != Validation::Warn || strict_problem(findings).is_none() {
        return answer;
    }
    let texts = findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    // A header has one line; what YAML's reader says in several becomes several, without its heading.
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| *line != "yaml: unmarshal errors:");
    let lines = lines.map(str::trim);
    lines.fold(answer, Answer::warning)
}
