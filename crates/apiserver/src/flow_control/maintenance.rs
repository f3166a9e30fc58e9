//! Maintains the objects of flow control: default objects exist and follow their defaults, and FlowSchemas have a
//! condition about the existence of their priority level.
//!
//! The functions decide; [`ApiServer`] writes. Writes through this server take effect before they are acknowledged.

use std::sync::Arc;

use gantry_json::{Value, json};
use gantry_managed_fields::apply::{self, OnConflict};
use gantry_managed_fields::ownership::Write;
use gantry_primitives::{Refusal, Timestamp};
use gantry_registry::flow_control::{AUTO_UPDATE, EXEMPT, FLOW_SCHEMA, GROUP, PRIORITY_LEVEL};
use gantry_registry::lifecycle::{self, Part, Updated};
use gantry_schema::kinds::{Kind, kinds};

use super::FlowObjects;
use crate::error::ApiError;
use crate::handlers::reset_fields;
use crate::metadata::Metadata;
use crate::objects::{Change, ObjectRef};
use crate::{ApiServer, Maintenance, bootstrap};

/// The field manager of default objects, and the field manager of the conditions of FlowSchemas; Kubernetes' names.
pub(crate) const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";

impl ApiServer {
    /// Puts the FlowSchemas and PriorityLevelConfigurations into effect that are known so far.
    ///
    /// The host of a server calls it periodically, for the writes of other servers.
    pub fn refresh_flow_control(&self) -> Maintenance<'_> {
        Box::pin(async {
            self.apply_flow_objects().await?;
            Ok(())
        })
    }

    /// Puts a write of this server to these objects into effect, before it is acknowledged.
    pub(crate) async fn follow_flow_control_write(&self) -> Result<(), Refusal> {
        drop(self.flow_objects.pending_write());
        self.refresh_flow_control().await
    }

    /// Creates default objects of flow control that are missing, updates those that follow their defaults, and deletes
    /// those that are no longer defaults. The host of a server calls it periodically.
    pub fn maintain_flow_control(&self) -> Maintenance<'_> {
        Box::pin(self.maintain_flow_objects())
    }

    async fn maintain_flow_objects(&self) -> Result<(), Refusal> {
        bootstrap::prepare_flow_control(self).await?;
        self.follow_flow_control_write().await?;
        let objects = self.apply_flow_objects().await?;
        for object in objects.outdated_defaults() {
            let deleted = self.objects.change(object_ref(object)?, |stored| {
                Ok(if is_auto_updated(stored) == Some(true) { Change::Remove(None) } else { Change::Keep })
            });
            match deleted.await {
                Ok(_) | Err(ApiError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.follow_flow_control_write().await
    }

    /// Configures flow control, and updates the conditions of FlowSchemas.
    async fn apply_flow_objects(&self) -> Result<Arc<FlowObjects>, ApiError> {
        let objects = self.flow_objects.current(self.objects.store.as_ref()).await?;
        self.flow_control.configure(&objects);
        let now = self.environment.now();
        for schema in objects.schemas.values() {
            let exists = |stored: &Value| objects.has_level_of(stored);
            let kind = kind_of(FLOW_SCHEMA)?;
            if with_condition(kind, schema, exists(schema), now).is_none() {
                continue;
            }
            let written = self.objects.change(ObjectRef::of(kind, schema), |stored| {
                let settled = with_condition(kind, stored, exists(stored), now);
                Ok(settled.map_or(Change::Keep, Change::Store))
            });
            match written.await {
                Ok(_) | Err(ApiError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(objects)
    }
}

impl FlowObjects {
    /// Whether the priority level of a FlowSchema exists.
    fn has_level_of(&self, schema: &Value) -> bool {
        self.levels.contains_key(level_of(schema))
    }

    /// The objects that the server maintains and that are no longer defaults.
    fn outdated_defaults(&self) -> impl Iterator<Item = &Value> {
        let all = self.schemas.values().chain(self.levels.values()).map(AsRef::as_ref);
        all.filter(|object| is_auto_updated(object) == Some(true) && !bootstrap::is_default(object))
    }
}

/// Returns a FlowSchema with a current condition about the existence of its priority level; `None` if it is current
/// already.
pub(crate) fn with_condition(kind: &Kind, schema: &Value, exists: bool, now: Timestamp) -> Option<Value> {
    let wanted = condition(level_of(schema), exists);
    let conditions = schema["status"]["conditions"].as_array();
    let is_same = |condition: &Value| {
        ["type", "status", "reason", "message"].iter().all(|field| condition[*field] == wanted[*field])
    };
    if conditions.is_some_and(|conditions| conditions.iter().any(is_same)) {
        return None;
    }
    let time = now.to_string();
    let mut dated = wanted;
    dated["lastTransitionTime"] = json!(time);
    let statement = json!({
        "apiVersion": kind.api_version, "kind": kind.kind,
        "metadata": {"name": Metadata::of(schema).name()},
        "status": {"conditions": [dated]},
    });
    let write = Write {
        kind: kind.kind,
        nature: &kind.nature,
        api_version: kind.api_version,
        subresource: "status",
        manager: CONSUMER,
        reset: &reset_fields(kind, Part::Status),
        now: &time,
    };
    let applied = apply::apply(Some(schema), &statement, &write, OnConflict::Force).ok()?;
    match lifecycle::update(schema, applied.object, Part::Status, kind) {
        Updated::Store(object) => Some(object),
        Updated::Unchanged | Updated::Remove(_) => None,
    }
}

fn condition(level: &str, exists: bool) -> Value {
    let names = format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?}");
    if exists {
        let message = format!("{names} and it exists");
        json!({"type": "Dangling", "status": "False", "reason": "Found", "message": message})
    } else {
        let message = format!("{names} but there is no such object");
        json!({"type": "Dangling", "status": "True", "reason": "NotFound", "message": message})
    }
}

/// Returns a stored default object that follows its default; `None` if it does already, or need not.
pub(crate) fn revised(stored: &Value, default: &Value, is_mandatory: bool) -> Option<Value> {
    let is_untouched = stored["metadata"]["generation"] == 1;
    let updates = is_mandatory || is_auto_updated(stored).unwrap_or(is_untouched);
    let mut object = stored.clone();
    if updates {
        let mut spec = default["spec"].clone();
        if Metadata::of(stored).name() == EXEMPT && default["kind"] == PRIORITY_LEVEL {
            // The administrator determines its seats.
            spec["exempt"] = stored["spec"]["exempt"].clone();
        }
        object["spec"] = spec;
    }
    if is_auto_updated(stored) != Some(updates) {
        object["metadata"]["annotations"][AUTO_UPDATE] = json!(updates.to_string());
    }
    (object != *stored).then_some(object)
}

/// Whether the server updates the spec of the object; `None` if the object has no such annotation.
fn is_auto_updated(object: &Value) -> Option<bool> {
    match object["metadata"]["annotations"][AUTO_UPDATE].as_str()? {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn level_of(schema: &Value) -> &str {
    schema["spec"]["priorityLevelConfiguration"]["name"].as_str().unwrap_or_default()
}

fn object_ref(object: &Value) -> Result<ObjectRef<'_>, ApiError> {
    Ok(ObjectRef::of(kind_of(object["kind"].as_str().unwrap_or_default())?, object))
}

fn kind_of(kind: &str) -> Result<&'static Kind, ApiError> {
    let found = kinds().kind(GROUP, "v1", kind);
    found.ok_or_else(|| ApiError::unclassified("the kinds of flow control are not served"))
}

#[cfg(test)]
mod tests {
    use gantry_registry::flow_control::{mandatory_levels, suggested_schemas};

    use super::*;

    fn stored(default: &Value) -> Value {
        let mut object = default.clone();
        object["metadata"]["generation"] = json!(1);
        object
    }

    /// A suggested object follows its default unless its annotation disables that.
    #[test]
    fn the_annotation_decides_about_suggested_objects() {
        let default = &suggested_schemas()[0];
        let mut changed = stored(default);
        assert_eq!(revised(&changed, default, false), None);
        changed["spec"]["matchingPrecedence"] = json!(7);
        changed["metadata"]["generation"] = json!(2);
        assert_eq!(revised(&changed, default, false).unwrap()["spec"], default["spec"]);
        changed["metadata"]["annotations"][AUTO_UPDATE] = json!("false");
        assert_eq!(revised(&changed, default, false), None, "it is not reset");
        changed["metadata"]["annotations"] = json!({});
        let without = revised(&changed, default, false).unwrap();
        assert_eq!(without["metadata"]["annotations"][AUTO_UPDATE], "false");
        assert_eq!(without["spec"], changed["spec"]);
    }

    /// A mandatory object always follows its default; the seats of the exempt level may differ.
    #[test]
    fn mandatory_objects_are_restored() {
        let [catch_all, exempt] = &mandatory_levels()[..] else { panic!("two levels are mandatory") };
        let mut changed = stored(catch_all);
        changed["metadata"]["annotations"][AUTO_UPDATE] = json!("false");
        changed["spec"]["limited"]["nominalConcurrencyShares"] = json!(100);
        let restored = revised(&changed, catch_all, true).unwrap();
        assert_eq!(restored["spec"], catch_all["spec"]);
        assert_eq!(restored["metadata"]["annotations"][AUTO_UPDATE], "true");
        let mut changed = stored(exempt);
        changed["spec"]["exempt"]["lendablePercent"] = json!(50);
        assert_eq!(revised(&changed, exempt, true), None);
    }
}
