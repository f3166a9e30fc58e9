//! What is looked up before an object may come in; what is decided then is the registry's.
//!
//! [`create`] and [`update`] come after the owners of fields are known, because what they add belongs to nobody.
//! [`quota::charges`] comes last, when nothing else can turn the object away.

mod accounts;
mod claims;
mod grounds;
mod limits;
mod priority;
pub(crate) mod quota;

use std::borrow::Cow;

use gantry_registry::kinds::{Kind, kinds};
use gantry_registry::{Refusal, admission};
use gantry_store::ListRequest;
use serde_json::Value;

use crate::ApiServer;
use crate::objects::{Created, Objects, Place, Shown, conflict, failed};
use crate::served;

pub(crate) use claims::{Refused, Taken, holds_claims, is_claim};
pub(crate) use grounds::{Grounds, check as grounds};

/// How often a new object is charged anew because others were charged in between.
const CHARGES_MAX: usize = 256;

/// Adds to a new object what it needs to come in, or says why it may not.
pub(crate) async fn create(server: &ApiServer, place: Place<'_>, object: &mut Value) -> Result<(), Refusal> {
    admission::admit_create(place.kind, object);
    match (place.kind.group, place.kind.kind) {
        ("", "Pod") => {
            accounts::admit(server, place, object).await?;
            priority::admit(server, place, object).await?;
            limits::admit(server, place, object).await
        }
        ("", "PersistentVolumeClaim") => limits::admit(server, place, object).await,
        ("scheduling.k8s.io", "PriorityClass") => priority::admit_class(server, place, object).await,
        _ => Ok(()),
    }
}

/// Stores a new object on these grounds, charged to the quotas of its namespace.
pub(crate) async fn store(
    server: &ApiServer,
    place: Place<'_>,
    mut object: Value,
    grounds: &Grounds,
) -> Result<Shown, Refusal> {
    let mut grounds = Cow::Borrowed(grounds);
    for _ in 0..CHARGES_MAX {
        let charges = quota::charges(&server.objects, place, &object).await?;
        match server.objects.create_with(place, object, &charges, &grounds).await? {
            Created::Stored(shown) => return Ok(shown),
            Created::Overtaken(again) => object = again,
            Created::Unfounded(again) => {
                object = again;
                // What changed may be known to the store alone so far.
                server.objects.catalogues.expect_more();
                grounds = Cow::Owned(self::grounds(&server.objects, place, &object).await?);
            }
        }
    }
    Err(conflict(place))
}

/// What storing a new object would come to.
pub(crate) async fn would_store(
    server: &ApiServer,
    place: Place<'_>,
    mut object: Value,
) -> Result<Shown, Refusal> {
    quota::charges(&server.objects, place, &object).await?;
    server.objects.would_allot(place, None, &mut object).await?;
    server.objects.would_create(place, object).await
}

/// Adds to a changed object what the server itself keeps in it.
pub(crate) fn update(kind: &Kind, stored: &Value, object: &mut Value) {
    admission::admit_update(kind, stored, object);
}

/// The object may not come in, for this reason.
fn forbidden(place: Place<'_>, why: &str) -> Refusal {
    let message = format!("{} \"{}\" is forbidden: {why}", place.kind.group_resource(), place.name);
    Refusal { code: 403, reason: "Forbidden", message, details: Some(Box::new(place.details())) }
}

/// All objects of a resource, or of one namespace of it.
async fn all(objects: &Objects, kind: &Kind, namespace: Option<&str>) -> Result<Vec<Value>, Refusal> {
    let request = ListRequest::all(Objects::prefix(kind, namespace));
    let page = objects.store.list(request).await.map_err(|error| failed(&error))?;
    page.items.iter().map(|item| served::parse(kind, &item.value, item.revision)).collect()
}

/// A kind that this server always has.
fn known(group: &str, resource: &str) -> Result<&'static Kind, Refusal> {
    let kind = kinds().resource(group, "v1", resource);
    kind.ok_or_else(|| Refusal::server_error(format!("{resource} are not served")))
}
