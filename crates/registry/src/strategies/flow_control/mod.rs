//! The strategies of FlowSchemas and PriorityLevelConfigurations.

mod validation;

use std::cmp::Ordering;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::defaults::setting::{Object, child, default, default_number, ensure};
use crate::lifecycle::{self, Part};
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const SCHEMA_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("PriorityLevel").text_at("spec.priorityLevelConfiguration.name"),
    column::text("MatchingPrecedence").number_at("spec.matchingPrecedence"),
    column::text("DistinguisherMethod").text_or("spec.distinguisherMethod.type", "<none>"),
    column::AGE,
    column::text("MissingPL").computed(|object, _| {
        let conditions = cell::at(object, "status.conditions").as_array();
        let dangling = conditions.into_iter().flatten().find(|condition| condition["type"] == "Dangling");
        json!(dangling.map_or("?", |condition| condition["status"].as_str().unwrap_or_default()))
    }),
];
const LEVEL_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Type").text_at("spec.type"),
    column::text("NominalConcurrencyShares").computed(|object, _| limit(object, "nominalConcurrencyShares")),
    column::text("Queues").computed(|object, _| limit(object, "limitResponse.queuing.queues")),
    column::text("HandSize").computed(|object, _| limit(object, "limitResponse.queuing.handSize")),
    column::text("QueueLengthLimit")
        .computed(|object, _| limit(object, "limitResponse.queuing.queueLengthLimit")),
    column::AGE,
];

pub(super) const SCHEMA: KindStrategy = KindStrategy {
    defaults: |schema| {
        if let Some(spec) = ensure(schema, "spec") {
            default_number(spec, "matchingPrecedence", 1000);
        }
    },
    initial_status: |_| Some(json!({})),
    prepare: keep_metadata,
    validate: |errors, _, _, new| validation::flow_schema(errors, new),
    validate_status: |errors, _, _, new| validation::conditions(errors, new),
    rows: Rows { order: Some(by_precedence), ..Rows::new(SCHEMA_COLUMNS) },
    status_reset_fields: &["metadata", "spec"],
    ..KindStrategy::DEFAULT
};

pub(super) const LEVEL: KindStrategy = KindStrategy {
    defaults: set_level_defaults,
    initial_status: |_| Some(json!({})),
    prepare: keep_metadata,
    validate: |errors, _, _, new| validation::priority_level(errors, new),
    validate_status: |errors, _, _, new| validation::conditions(errors, new),
    rows: Rows::new(LEVEL_COLUMNS),
    status_reset_fields: &["metadata", "spec"],
    ..KindStrategy::DEFAULT
};

/// A write to the status changes no metadata.
fn keep_metadata(part: Part, old: Option<&Value>, new: &mut Value) {
    if let (Part::Status, Some(old)) = (part, old) {
        lifecycle::keep_all_but_managed_fields(old, new);
    }
}

fn set_level_defaults(level: &mut Object) {
    let Some(spec) = child(level, "spec") else { return };
    if let Some(exempt) = child(spec, "exempt") {
        default(exempt, "nominalConcurrencyShares", 0);
        default(exempt, "lendablePercent", 0);
    }
    if let Some(limited) = child(spec, "limited") {
        default(limited, "nominalConcurrencyShares", 30);
        default(limited, "lendablePercent", 0);
        if let Some(queuing) = child(limited, "limitResponse").and_then(|response| child(response, "queuing"))
        {
            default_number(queuing, "handSize", 8);
            default_number(queuing, "queues", 64);
            default_number(queuing, "queueLengthLimit", 50);
        }
    }
}

fn limit(level: &Value, path: &str) -> Value {
    match cell::at(&level["spec"]["limited"], path) {
        Value::Null => json!("<none>"),
        value => value.clone(),
    }
}

/// The order in which FlowSchemas are matched.
fn by_precedence(one: &Value, other: &Value) -> Ordering {
    let key =
        |schema: &Value| (cell::number(schema, "spec.matchingPrecedence"), cell::name(schema).to_owned());
    key(one).cmp(&key(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    /// A level with queues, and one without.
    #[test]
    fn a_level_shows_its_queues() {
        let queued = json!({"metadata": {"name": "a"}, "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 30,
            "limitResponse": {"type": "Queue", "queuing": {"queues": 64, "handSize": 6, "queueLengthLimit": 50}},
        }}});
        let now = Timestamp::from_secs(0);
        assert_eq!(
            LEVEL.rows.cells(&queued, now)[1..6],
            [json!("Limited"), json!(30), json!(64), json!(6), json!(50)]
        );
        let exempt = json!({"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {}}});
        let none = json!("<none>");
        assert_eq!(
            LEVEL.rows.cells(&exempt, now)[1..6],
            [json!("Exempt"), none.clone(), none.clone(), none.clone(), none]
        );
    }

    /// FlowSchemas are shown in the order in which they match; the last column says whether the level is missing.
    #[test]
    fn schemas_are_ordered_by_precedence_and_name() {
        let schema = |name: &str, precedence: u32| json!({"metadata": {"name": name}, "spec": {"matchingPrecedence": precedence}});
        let (a, b, c) = (schema("a", 900), schema("b", 9), schema("c", 900));
        assert_eq!(by_precedence(&a, &b), Ordering::Greater);
        assert_eq!(by_precedence(&a, &c), Ordering::Less);
        let dangling = json!({"status": {"conditions": [{"type": "Dangling", "status": "True"}]}});
        let now = Timestamp::from_secs(0);
        assert_eq!(SCHEMA.rows.cells(&a, now)[5], "?");
        assert_eq!(SCHEMA.rows.cells(&dangling, now)[5], "True");
    }
}
