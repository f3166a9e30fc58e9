//! The limit ranges of a namespace.

use gantry_registry::Refusal;
use gantry_registry::admission::limits;
use serde_json::Value;

use super::{all, forbidden, known};
use crate::ApiServer;
use crate::objects::Place;

/// Gives containers what they get by default, and holds what is asked for to the limits.
pub(super) async fn admit(server: &ApiServer, place: Place<'_>, object: &mut Value) -> Result<(), Refusal> {
    let ranges = all(&server.objects, known("", "limitranges")?, place.namespace).await?;
    limits::admit(&ranges, place.kind, object).map_err(|why| forbidden(place, &why))
}
