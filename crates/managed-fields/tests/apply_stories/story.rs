//! One object, and managers that write to it.

use std::sync::Arc;

use gantry_json::{Value, json};
use gantry_managed_fields::apply::{Applied, Change, OnConflict, apply};
use gantry_managed_fields::ownership::{FieldSet, Write, track_update};
use gantry_primitives::Refusal;
use gantry_schema::custom::Custom;
use gantry_schema::kinds::Nature;
use gantry_schema::schema::schema;

/// One object in memory, a clock that counts requests, and managers that write to it.
pub(crate) struct Story {
    pub(crate) live: Option<Value>,
    pub(crate) nature: Nature,
    pub(crate) api_version: &'static str,
    kind: &'static str,
    subresource: &'static str,
    reset: FieldSet,
    minute: usize,
}

impl Story {
    /// A built-in kind, such as `apps/v1.Deployment`.
    pub(crate) fn of(name: &'static str) -> Self {
        let (api_version, kind) = name.trim_start_matches("core/").split_once('.').unwrap();
        Self::new(api_version, kind, schema().find(name).unwrap().into())
    }

    /// A custom kind with this schema.
    pub(crate) fn custom(schema: &Value) -> Self {
        Self::new("example.com/v1", "Widget", custom(schema))
    }

    fn new(api_version: &'static str, kind: &'static str, nature: Nature) -> Self {
        let reset = FieldSet::of_fields(&["status"]);
        Self { live: None, nature, api_version, kind, subresource: "", reset, minute: 0 }
    }

    /// Makes all further writes go through `/status`.
    pub(crate) fn through_status(&mut self) {
        self.subresource = "status";
        self.reset = FieldSet::of_fields(&["metadata", "spec"]);
    }

    pub(crate) fn write<R>(
        &mut self,
        manager: &str,
        body: impl FnOnce(Option<&Value>, &Write<'_>) -> R,
    ) -> R {
        self.minute += 1;
        let now = format!("2026-01-01T00:{:02}:00Z", self.minute);
        let Self { kind, nature, api_version, subresource, reset, .. } = &*self;
        body(self.live.as_ref(), &Write { kind, nature, api_version, subresource, manager, reset, now: &now })
    }

    pub(crate) fn try_apply(
        &mut self,
        manager: &str,
        stated: &Value,
        on_conflict: OnConflict,
    ) -> Result<Applied, Refusal> {
        let mut object = stated.clone();
        object["apiVersion"] = json!(self.api_version);
        object["kind"] = json!(self.kind);
        object["metadata"]["name"] = json!("a");
        let applied = self.write(manager, |live, write| apply(live, &object, write, on_conflict))?;
        self.live = Some(applied.object.clone());
        Ok(applied)
    }

    pub(crate) fn apply(&mut self, manager: &str, stated: &Value) -> Change {
        self.try_apply(manager, stated, OnConflict::Refuse).unwrap().change
    }

    pub(crate) fn refused(&mut self, manager: &str, stated: &Value) -> String {
        self.try_apply(manager, stated, OnConflict::Refuse).unwrap_err().message
    }

    pub(crate) fn update(&mut self, manager: &str, change: impl FnOnce(&mut Value)) {
        let mut new = self.live.clone().unwrap_or_else(|| json!({"metadata": {"name": "a"}}));
        change(&mut new);
        self.write(manager, |live, write| track_update(live, &mut new, write));
        self.live = Some(new);
    }

    pub(crate) fn live(&self) -> &Value {
        self.live.as_ref().unwrap()
    }

    /// Manager, operation and minute of each entry.
    pub(crate) fn owners(&self) -> Vec<String> {
        let entries = self.live()["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let owner = |entry: &Value| {
            let time = entry["time"].as_str().map_or("never", |time| &time[14..16]);
            format!("{} {} {time}", entry["manager"].as_str().unwrap(), entry["operation"].as_str().unwrap())
        };
        entries.iter().map(owner).collect()
    }

    pub(crate) fn fields(&self, manager: &str) -> Value {
        let entries = self.live()["metadata"]["managedFields"].as_array().unwrap();
        entries.iter().find(|entry| entry["manager"] == manager).unwrap()["fieldsV1"].clone()
    }
}

/// A custom kind with this schema.
pub(crate) fn custom(schema: &Value) -> Nature {
    Nature::Custom(Arc::new(Custom::read(&json!({}), &json!({"schema": {"openAPIV3Schema": schema}}))))
}
