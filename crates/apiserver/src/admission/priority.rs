//! Priority admission: the priority of new pods, and at most one default PriorityClass.

use gantry_json::Value;
use gantry_registry::admission::priority;
use gantry_schema::kinds::Kind;

use super::all;
use crate::ApiServer;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::ObjectRef;
use crate::store_cache::Projection;

/// The API group of priority classes.
pub(crate) const GROUP: &str = "scheduling.k8s.io";

/// Sets the priority of a pod from its class.
pub(super) async fn admit(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    pod: &mut Value,
) -> Result<(), ApiError> {
    let PriorityClasses(classes) = &*server.priority_classes.current(server.objects.store.as_ref()).await?;
    let class = match priority::class_of(pod) {
        "" => priority::by_default(classes),
        name => match classes.iter().find(|class| Metadata::of(class).name() == name) {
            None => return Err(ApiError::forbidden(object_ref, priority::missing(name))),
            found => found,
        },
    };
    priority::prioritize(pod, class).map_err(|why| ApiError::forbidden(object_ref, why))
}

/// All priority classes, which every new pod is compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorityClasses(Vec<Value>);

impl Projection for PriorityClasses {
    fn includes(kind: &Kind) -> bool {
        kind.group == GROUP && kind.resource == "priorityclasses"
    }

    fn add(&mut self, class: &Value) {
        self.remove(class);
        self.0.push(class.clone());
        self.0.sort_by(|one, other| Metadata::of(one).name().cmp(Metadata::of(other).name()));
    }

    fn remove(&mut self, class: &Value) {
        self.0.retain(|known| Metadata::of(known).name() != Metadata::of(class).name());
    }
}

/// Returns 403 for a second default class.
pub(super) async fn admit_class(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    class: &Value,
) -> Result<(), ApiError> {
    let classes = all(&server.objects, object_ref.kind, None).await?;
    priority::second_default(class, &classes).map_or(Ok(()), |why| Err(ApiError::forbidden(object_ref, why)))
}
