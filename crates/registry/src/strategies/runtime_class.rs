//! The strategy of RuntimeClasses.

use gantry_json::{Value, json};
use gantry_primitives::names::short_name;

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path, list, text};
use crate::validation::{metadata, resources, scheduling};

const COLUMNS: &[TableColumn] = &[column::NAME, column::text("Handler").text_at("handler"), column::AGE];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| match old {
        None => validate_new(errors, new),
        Some(old) => {
            errors.unchanged(&Path::new("handler"), old["handler"] == new["handler"]);
        }
    },
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn validate_new(errors: &mut ErrorList, class: &Value) {
    let handler = text(class, "handler");
    errors.required_text(&Path::new("handler"), handler, short_name);
    if let Some(overhead) = class["overhead"].as_object() {
        // Kubernetes validates them as limits of a container, and names that field.
        let limits = json!({"limits": overhead.get("podFixed").cloned().unwrap_or_default()});
        resources::requirements(errors, &Path::new("overhead"), &limits);
    }
    let at = Path::new("scheduling");
    let chosen = &class["scheduling"];
    metadata::labels(errors, &at.child("nodeSelector"), chosen, "nodeSelector");
    let (at, tolerations) = (at.child("tolerations"), list(chosen, "tolerations"));
    for (index, toleration) in tolerations.iter().enumerate() {
        scheduling::toleration(errors, &at.index(index), toleration);
        if tolerations[..index].contains(toleration) {
            errors.duplicate_formatted(&at.index(index), in_go(toleration));
        }
    }
}

/// A toleration with the names of Kubernetes' internal type.
fn in_go(toleration: &Value) -> String {
    let field = |name: &str| json!(text(toleration, name));
    format!(
        r#"{{"Key":{},"Operator":{},"Value":{},"Effect":{},"TolerationSeconds":{}}}"#,
        field("key"),
        field("operator"),
        field("value"),
        field("effect"),
        toleration["tolerationSeconds"]
    )
}
