//! Create and update.

use gantry_json::{Value, json};
use gantry_managed_fields::ownership::track_update;
use gantry_primitives::FieldError;
use gantry_registry::lifecycle::{self, ServerAssignedMetadata};
use gantry_registry::validation::{self, ValidationReport};
use gantry_registry::{conversion, defaults};
use gantry_schema::decode::{self, Finding, Format, KeyOrder, strict_problem};
use gantry_schema::kinds::{BlindPut, Nature, PutAbsent, Scope, Verb};

pub(super) use gantry_registry::lifecycle::Part;

use super::call::Call;
use super::require_verb;
use super::update::{
    Ownership, PlannedUpdate, check_namespace, check_uid, check_version_syntax, field_write, plan_update,
    reset_fields,
};
use crate::admission::{self, RejectedObject};
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::{Change, ObjectResponse};
use crate::query::{Validation, WriteOptions};
use crate::response::ApiResponse;

/// The result of a write.
pub(super) struct WriteResult {
    pub(super) object: ObjectResponse,
    /// Warnings about the object.
    pub(super) warnings: Vec<String>,
}

impl WriteResult {
    /// Adds the warnings to a response.
    pub(super) fn add_warnings(&self, response: ApiResponse) -> ApiResponse {
        self.warnings.iter().fold(response, |response, warning| response.warning(warning))
    }
}

/// The maximum number of attempts to generate a unique name.
const NAME_ATTEMPTS: usize = 8;

impl Call<'_> {
    pub(super) async fn create(&self) -> Result<ApiResponse, ApiError> {
        if self.kind.scope == Scope::Namespaced && self.namespace.is_none() {
            return Err(ApiError::MethodNotAllowed);
        }
        let options = self.info.query.write_options("CreateOptions", self.info.user_agent())?;
        let (object, findings) = self.decoded(&options)?;
        let written = self.create_object(object, &options, Ownership::ByChange).await;
        self.respond(201, written, &options, &findings)
    }

    /// Stores a new object that was decoded.
    pub(super) async fn create_object(
        &self,
        mut object: Value,
        options: &WriteOptions,
        ownership: Ownership,
    ) -> Result<WriteResult, ApiError> {
        check_namespace(self, &mut object)?;
        lifecycle::drop_server_metadata(&mut object);
        let preconditions =
            admission::preconditions(&self.server.objects, self.object_ref(), &object).await?;
        self.check_creation(&object)?;
        let duplicate_owners = validation::deduplicate_owners(&mut object, "");
        if ownership == Ownership::ByChange {
            defaults::apply(self.kind, &mut object);
        }
        let environment = &self.server.environment;
        let now = environment.now();
        if ownership == Ownership::ByChange && self.server.settings.managed_fields {
            let (reset, now) = (reset_fields(self.kind, Part::Main), now.to_string());
            track_update(None, &mut object, &field_write(self, Part::Main, options, &reset, &now));
        }
        let is_generated = Metadata::of(&object).name().is_empty();
        let mut attempts_left = if is_generated { NAME_ATTEMPTS } else { 1 };
        loop {
            attempts_left -= 1;
            let (uid, suffix) = (environment.uid(), environment.name_suffix());
            let assigned = ServerAssignedMetadata { uid: &uid, now, name_suffix: &suffix };
            // The last attempt does not need the object afterwards.
            let template = if attempts_left == 0 { std::mem::take(&mut object) } else { object.clone() };
            let mut created = lifecycle::create(template, self.kind, &assigned);
            let name = Metadata::of(&created).name().to_owned();
            let object_ref = self.object_ref_of(&name);
            admission::create(self.server, &self.info.caller, object_ref, &mut created).await?;
            defaults::set_initial_status(self.kind, &mut created);
            let mut warnings: Vec<String> = duplicate_owners.iter().cloned().collect();
            let check = |order: &KeyOrder| {
                let report = validation::create_in_order(self.kind, &created, order);
                admission::validate(self.kind, None, &created, report)
            };
            match self.validate(&name, check) {
                Ok(found) => warnings.extend(found),
                Err(why) => {
                    let refused = RejectedObject { object: created, why };
                    return Err(self
                        .server
                        .objects
                        .refusal(object_ref, None, refused, options.allotment())
                        .await);
                }
            }
            admission::check_caller(&self.info.caller, object_ref, Part::Main, None, &created)?;
            if !options.dry_run {
                check_unversioned(&created)?;
                remove_version(&mut created);
                warnings.extend(self.uncontrolled());
            }
            let stored = if options.dry_run {
                admission::dry_run_store(self.server, object_ref, created).await
            } else {
                admission::store(self.server, object_ref, created, &preconditions).await
            };
            match stored {
                Err(ApiError::AlreadyExists(existing)) if is_generated => {
                    if attempts_left == 0 {
                        return Err(ApiError::NoUniqueName(existing));
                    }
                }
                other => return other.map(|object| WriteResult { object, warnings }),
            }
        }
    }

    /// The warning about an object of a kind without a controller, whose status will not change.
    fn uncontrolled(&self) -> Option<String> {
        let mut kinds = self.server.settings.uncontrolled.iter();
        let found = kinds.find(|it| it.group == self.kind.group && it.kind == self.kind.kind);
        found.map(|kind| kind.warning())
    }

    pub(super) async fn put(&self, part: Part) -> Result<ApiResponse, ApiError> {
        require_verb(self.kind, Verb::Update)?;
        let options = self.info.query.write_options("UpdateOptions", self.info.user_agent())?;
        let (object, findings) = self.decoded(&options)?;
        let object = match self.put_object(object) {
            Ok(object) => object,
            Err(refusal) => return self.respond(200, Err(refusal), &options, &findings),
        };
        // Only a retry after a write conflict decodes the body again.
        let mut unused = Some(object);
        let written = self.change(&options, |stored| {
            let mut object = match unused.take() {
                Some(object) => object,
                None => self.put_object(self.decoded(&options)?.0)?,
            };
            // Unchanged parts are shared, and not compared again.
            object.share_with(stored);
            check_uid(self.object_ref(), stored, &object)?;
            self.check_version_present(&object)?;
            plan_update(self, stored, object, part, &options, Ownership::ByChange)
        });
        let (status, written) = match (written.await, unused) {
            (Err(ApiError::NotFound(_)), Some(mut object))
                if self.kind.put_absent == PutAbsent::Creates && part == Part::Main =>
            {
                check_version_syntax(&object)?;
                remove_version(&mut object);
                (201, self.create_object(object, &options, Ownership::ByChange).await)
            }
            (other, _) => (200, other),
        };
        self.respond(status, written, &options, &findings)
    }

    /// Checks and defaults the object in the body of an update.
    fn put_object(&self, mut object: Value) -> Result<Value, ApiError> {
        check_namespace(self, &mut object)?;
        self.check_name(&object)?;
        defaults::apply(self.kind, &mut object);
        Ok(object)
    }

    /// Some kinds require a resource version in updates.
    pub(super) fn check_version_present(&self, object: &Value) -> Result<(), ApiError> {
        let version = Metadata::of(object).resource_version();
        if self.kind.blind_put != BlindPut::Refused || !matches!(version, "" | "0") {
            return Ok(());
        }
        let wrong =
            FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
        Err(ApiError::invalid(self.kind.resource, self.kind.group, self.name.unwrap_or_default(), &[wrong]))
    }

    /// Changes an existing object, or returns the result of a dry run.
    pub(super) async fn change(
        &self,
        options: &WriteOptions,
        mut decide: impl FnMut(&Value) -> Result<PlannedUpdate, ApiError> + Send,
    ) -> Result<WriteResult, ApiError> {
        let (mut instead, mut warnings, mut tried, mut refused) = (None, Vec::new(), None, None);
        let objects = &self.server.objects;
        let outcome = objects.change(self.object_ref(), |stored| {
            let planned = decide(stored)?;
            (instead, warnings) = (planned.response, planned.warnings);
            refused = planned.refused.map(|refused| (stored.clone(), refused));
            if !options.dry_run {
                return Ok(planned.change);
            }
            if let Change::Store(object) = planned.change {
                tried = Some(stored.clone());
                instead = Some(object);
            }
            Ok(Change::Keep)
        });
        let outcome = outcome.await?;
        if let Some((stored, refused)) = refused {
            return Err(objects
                .refusal(self.object_ref(), Some(&stored), refused, options.allotment())
                .await);
        }
        if let (Some(before), Some(after)) = (&tried, &mut instead) {
            objects.dry_run_allocate(self.object_ref(), Some(before), after).await?;
            admission::quota::differences(objects, self.object_ref(), before, after).await?;
        }
        let object = instead.map_or_else(|| outcome.into_object(), ObjectResponse::from);
        Ok(WriteResult { object, warnings })
    }

    /// The response to a write, with its warnings.
    pub(super) fn response(
        &self,
        status: u16,
        written: &WriteResult,
        options: &WriteOptions,
        findings: &[Finding],
    ) -> Result<ApiResponse, ApiError> {
        let response = warn(self.render_response(status, &written.object)?, options, findings);
        Ok(written.add_warnings(response))
    }

    /// The response to a write or to its failure; both have the warnings about ignored fields.
    pub(super) fn respond(
        &self,
        status: u16,
        written: Result<WriteResult, ApiError>,
        options: &WriteOptions,
        findings: &[Finding],
    ) -> Result<ApiResponse, ApiError> {
        match written {
            Ok(written) => self.response(status, &written, options, findings),
            Err(error) if findings.is_empty() => Err(error),
            Err(error) => Ok(warn(ApiResponse::error(&error), options, findings)),
        }
    }

    /// Returns 422 if an object is invalid, or else its warnings.
    ///
    /// The order of keys only affects errors, so it is determined after an error.
    pub(super) fn validate(
        &self,
        name: &str,
        check: impl Fn(&KeyOrder) -> ValidationReport,
    ) -> Result<Vec<String>, ApiError> {
        let mut validated = check(&KeyOrder::default());
        if validated.errors.is_empty() {
            return Ok(validated.warnings);
        }
        let order = self.key_order();
        if !order.is_alphabetical() {
            validated = check(&order);
        }
        let kind = conversion::stored_kind(self.kind).unwrap_or(self.kind);
        Err(ApiError::invalid(kind.kind, kind.group, name, &validated.errors))
    }

    /// The order of the keys in a JSON body. Other formats are sorted when decoded.
    fn key_order(&self) -> KeyOrder {
        match self.format() {
            Ok(Format::Json) => KeyOrder::of_json(&self.body),
            _ => KeyOrder::default(),
        }
    }

    /// Decodes the object in the body; returns the ignored fields as findings.
    pub(super) fn decoded(&self, options: &WriteOptions) -> Result<(Value, Vec<Finding>), ApiError> {
        let decoded = match &self.kind.nature {
            Nature::BuiltIn(_) => decode::object(&self.body, self.format()?, self.gvk())?,
            Nature::Custom(custom) => {
                self.check_conversion()?;
                decode::custom::object(&self.body, self.text_format()?, self.gvk(), custom)?
            }
        };
        if options.validation == Validation::Strict {
            return Ok((decoded.strict(self.gvk())?, Vec::new()));
        }
        Ok((decoded.object, decoded.findings))
    }

    /// The name in the body must equal the name in the path.
    pub(super) fn check_name(&self, object: &Value) -> Result<(), ApiError> {
        let (name, wanted) = (Metadata::of(object).name(), self.name.unwrap_or_default());
        if name.is_empty() {
            let message = format!(
                "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
            );
            return Err(ApiError::bad_request(message));
        }
        if name != wanted {
            let message =
                format!("the name of the object ({name}) does not match the name on the URL ({wanted})");
            return Err(ApiError::bad_request(message));
        }
        Ok(())
    }
}

/// Returns 500 if a new object has a resource version; malformed versions are ignored.
fn check_unversioned(object: &Value) -> Result<(), ApiError> {
    let version = Metadata::of(object).resource_version();
    match version.parse::<u64>() {
        Ok(1..) => Err(ApiError::unclassified("resourceVersion should not be set on objects to be created")),
        Ok(0) | Err(_) => Ok(()),
    }
}

/// Removes the version that the client sent.
pub(super) fn remove_version(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
}

/// Adds warnings about ignored fields.
pub(super) fn warn(response: ApiResponse, options: &WriteOptions, findings: &[Finding]) -> ApiResponse {
    if options.validation != Validation::Warn || strict_problem(findings).is_none() {
        return response;
    }
    let texts = findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    // A header is one line: multi-line messages of the YAML parser become several, without the heading.
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| *line != "yaml: unmarshal errors:");
    let lines = lines.map(str::trim);
    lines.fold(response, ApiResponse::warning)
}
