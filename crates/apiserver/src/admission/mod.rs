//! Admission: looks up the objects that the registry's admission decisions depend on.
//!
//! [`create`] and [`update`] run after field ownership is tracked, so that no manager owns what they add. [`validate`] and
//! [`check_caller`] run on the result, [`quota::charges`] last, after all other checks.

mod accounts;
mod certificates;
mod ip_address;
mod ip_allocator;
mod limits;
mod preconditions;
mod priority;
pub(crate) mod quota;
mod runtime_class;

use std::borrow::Cow;

use gantry_json::Value;
use gantry_primitives::Timestamp;
use gantry_registry::admission::{self, AdmissionCheck};
use gantry_registry::lifecycle::Part;
use gantry_registry::strategies;
use gantry_registry::strategies::certificates::signing_request;
use gantry_registry::validation::ValidationReport;
use gantry_schema::kinds::{Kind, kinds};
use gantry_store::ListRequest;

use crate::ApiServer;
use crate::authorization::Caller;
use crate::error::ApiError;
use crate::objects::{CreateResult, ObjectRef, ObjectResponse, Objects};
use crate::storage_codec;

pub(crate) use ip_allocator::{Allocated, RejectedObject, is_allocation, needs_allocation};
pub(crate) use preconditions::{Preconditions, check as preconditions};
pub(crate) use priority::{GROUP as SCHEDULING, PriorityClasses};

/// The maximum number of attempts to charge a new object to quotas on write conflicts.
const CHARGES_MAX: usize = 256;

/// Sets the fields that admission adds to a new object, or returns why it is rejected.
pub(crate) async fn create(
    server: &ApiServer,
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    object: &mut Value,
) -> Result<(), ApiError> {
    admission::admit_create(object_ref.kind, object);
    for check in strategies::of(object_ref.kind).admission_checks {
        match check {
            AdmissionCheck::ServiceAccount => accounts::admit(server, object_ref, object).await?,
            AdmissionCheck::Priority => priority::admit(server, object_ref, object).await?,
            AdmissionCheck::OneDefaultClass => priority::admit_class(server, object_ref, object).await?,
            AdmissionCheck::Limits => limits::admit(server, object_ref, object).await?,
            AdmissionCheck::RuntimeClass => runtime_class::admit(server, object_ref, object).await?,
            AdmissionCheck::SigningRequest => signing_request::set_requestor(object, &caller.user),
            AdmissionCheck::TrustBundle => {}
        }
    }
    Ok(())
}

/// Adds the errors that only a parser of certificates finds; `stored` is `None` for a new object.
pub(crate) fn validate(
    kind: &Kind,
    stored: Option<&Value>,
    object: &Value,
    mut report: ValidationReport,
) -> ValidationReport {
    for check in strategies::of(kind).admission_checks {
        match check {
            AdmissionCheck::SigningRequest => certificates::validate_request(stored, object, &mut report),
            AdmissionCheck::TrustBundle => certificates::validate_bundle(stored, object, &mut report),
            _ => {}
        }
    }
    report
}

/// Returns 403 if the caller may not make this valid change of an object; `stored` is `None` for a new one.
pub(crate) fn check_caller(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    part: Part,
    stored: Option<&Value>,
    object: &Value,
) -> Result<(), ApiError> {
    for check in strategies::of(object_ref.kind).admission_checks {
        match (check, stored) {
            (AdmissionCheck::SigningRequest, None) => {
                certificates::check_new_request(caller, object_ref, object)?;
            }
            (AdmissionCheck::SigningRequest, Some(stored)) => {
                certificates::check_changed_request(caller, object_ref, part, stored, object)?;
            }
            (AdmissionCheck::TrustBundle, _) => {
                certificates::check_bundle(caller, object_ref, stored, object)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Stores a new object under these preconditions and charges it to the quotas of its namespace.
pub(crate) async fn store(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    mut object: Value,
    preconditions: &Preconditions,
) -> Result<ObjectResponse, ApiError> {
    let mut preconditions = Cow::Borrowed(preconditions);
    for _ in 0..CHARGES_MAX {
        let charges = quota::charges(&server.objects, object_ref, &object).await?;
        match server.objects.create_with(object_ref, object, &charges, &preconditions).await? {
            CreateResult::Stored(shown) => return Ok(shown),
            CreateResult::Conflicted(again) => object = again,
            CreateResult::PreconditionFailed(again) => {
                object = again;
                // The change may not have reached the cache yet.
                server.objects.catalogues.invalidate();
                preconditions = Cow::Owned(self::preconditions(&server.objects, object_ref, &object).await?);
            }
        }
    }
    Err(ApiError::modified(object_ref))
}

/// Returns the result of [`store`] for a dry run.
pub(crate) async fn dry_run_store(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    mut object: Value,
) -> Result<ObjectResponse, ApiError> {
    quota::charges(&server.objects, object_ref, &object).await?;
    server.objects.dry_run_allocate(object_ref, None, &mut object).await?;
    server.objects.dry_run_create(object_ref, object).await
}

/// Sets the fields of a changed object that the server maintains.
pub(crate) fn update(kind: &Kind, part: Part, stored: &Value, object: &mut Value, now: Timestamp) {
    if part == Part::Main {
        admission::admit_update(kind, stored, object);
    }
    let is_decided = matches!(part, Part::Status | Part::Approval);
    if is_decided && strategies::of(kind).admission_checks.contains(&AdmissionCheck::SigningRequest) {
        signing_request::set_condition_times(stored, object, now);
    }
}

/// Lists all objects of a resource, or of one namespace.
async fn all(objects: &Objects, kind: &Kind, namespace: Option<&str>) -> Result<Vec<Value>, ApiError> {
    let request = ListRequest::all(Objects::prefix(kind, namespace));
    let page = objects.store.list(request).await?;
    page.items.iter().map(|item| storage_codec::decode(kind, &item.value, item.revision)).collect()
}

/// Returns a built-in kind.
fn known(group: &str, resource: &str) -> Result<&'static Kind, ApiError> {
    let kind = kinds().resource(group, "v1", resource);
    kind.ok_or_else(|| ApiError::unclassified(format!("{resource} are not served")))
}
