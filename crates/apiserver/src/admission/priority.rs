//! The priority class of a new pod, and the one class that is everybody's.

use gantry_registry::Refusal;
use gantry_registry::admission::priority;
use serde_json::Value;

use super::{all, forbidden, known};
use crate::ApiServer;
use crate::objects::Place;

const GROUP: &str = "scheduling.k8s.io";

/// Gives a pod the priority of its class.
pub(super) async fn admit(server: &ApiServer, place: Place<'_>, pod: &mut Value) -> Result<(), Refusal> {
    let kind = known(GROUP, "priorityclasses")?;
    let name = priority::class_of(pod).to_owned();
    let class = if name.is_empty() {
        priority::by_default(&all(&server.objects, kind, None).await?).cloned()
    } else {
        match server.objects.get(Place { kind, namespace: None, name: &name }).await {
            Err(absent) if absent.code == 404 => return Err(forbidden(place, &priority::missing(&name))),
            found => Some(found?),
        }
    };
    priority::prioritize(pod, class.as_ref()).map_err(|why| forbidden(place, &why))
}

/// Of all classes, one at most is that of pods that name none.
pub(super) async fn admit_class(server: &ApiServer, place: Place<'_>, class: &Value) -> Result<(), Refusal> {
    let classes = all(&server.objects, place.kind, None).await?;
    priority::second_default(class, &classes).map_or(Ok(()), |why| Err(forbidden(place, &why)))
}
