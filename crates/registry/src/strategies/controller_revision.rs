//! The strategy of ControllerRevisions.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, number};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Controller").computed(|object, _| {
        let owner =
            cell::list(object, "metadata.ownerReferences").iter().find(|owner| owner["controller"] == true);
        let controller = owner.map_or_else(|| "<none>".to_owned(), owner_name);
        json!(controller)
    }),
    column::text("Revision").number_at("revision"),
    column::AGE,
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| validate(errors, old, new),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn validate(errors: &mut ErrorList, old: Option<&Value>, new: &Value) {
    let data = Path::new("data");
    match &new["data"] {
        Value::Null if old.is_none() => errors.required(&data, "data is mandatory"),
        Value::Null | Value::Object(_) => {}
        _ if old.is_none() => errors.required(&data, "data must be a valid JSON object"),
        _ => {}
    }
    if number(new, "revision").is_some_and(|revision| revision < 0) {
        let why = "must be greater than or equal to 0";
        errors.invalid(&Path::new("revision"), &new["revision"], why);
    }
    if let Some(old) = old {
        errors.immutable(&data, old["data"] == new["data"], &new["data"]);
    }
}

/// `statefulset.apps/db`
fn owner_name(owner: &Value) -> String {
    let group = cell::text(owner, "apiVersion").split_once('/').map(|(group, _)| format!(".{group}"));
    format!("{}{}/{}", cell::text(owner, "kind"), group.unwrap_or_default(), "").to_lowercase()
        + cell::text(owner, "name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: controllers are named by kind and group.
    #[test]
    fn a_revision_names_its_controller() {
        let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "Db", "controller": true});
        let revision = json!({"metadata": {"name": "r", "ownerReferences": [owner]}, "revision": 7});
        assert_eq!(STRATEGY.rows.cells(&revision, NOW)[1..3], [json!("statefulset.apps/Db"), json!(7)]);
    }
}
