//! The strategy of CustomResourceDefinitions.

mod defaults;
mod deletion;
pub(crate) mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::lifecycle::Part;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::warnings;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Scope").text_at("spec.scope"),
    column::text("Versions").computed(versions_cell),
    column::CREATED,
    column::wide("Group").text_at("spec.group"),
    column::wide("Kind").text_at("spec.names.kind"),
    column::wide("ShortNames").computed(|object, _| {
        let short: Vec<_> =
            cell::list(object, "spec.names.shortNames").iter().filter_map(Value::as_str).collect();
        json!(short.join(","))
    }),
    column::wide_boolean("Established")
        .computed(|object, _| json!(cell::has_condition(object, "Established", "True"))),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: defaults::definition,
    initial_status: |definition| Some(defaults::initial_status(definition)),
    prepare: |part, old, new| {
        if let (Part::Main, Some(_)) = (part, old) {
            deletion::add_stored_version(new);
        }
    },
    validate: |errors, _, old, new| match old {
        None => validation::create(errors, new),
        Some(old) => validation::update(errors, old, new),
    },
    validate_status: |errors, _, _, new| validation::status(errors, new),
    warnings: |warnings, old, new| {
        warnings::new_only(warnings, old, new, |warnings, definition| {
            warnings.extend(validation::warnings(&definition["spec"]));
        });
    },
    any_finalizers: true,
    delete: Some(deletion::delete),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn versions_cell(object: &Value, _: Timestamp) -> Value {
    let served = cell::list(object, "spec.versions").iter().filter(|version| version["served"] == true);
    let mut versions: Vec<_> = served
        .map(|version| {
            let mark = if version["storage"] == true { "(storage)" } else { "" };
            format!("{}{mark}", cell::name_of(version))
        })
        .collect();
    versions.sort();
    json!(versions.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: the row of a CustomResourceDefinition.
    #[test]
    fn a_definition_lists_its_versions() {
        let definition = json!({
            "metadata": {"name": "foos.example.com", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {
                "scope": "Namespaced", "group": "example.com", "versions": [
                    {"name": "v2", "served": true}, {"name": "v1", "served": true, "storage": true}, {"name": "v0"},
                ],
                "names": {"kind": "Foo", "shortNames": ["fo"]},
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        });
        assert_eq!(
            STRATEGY.rows.cells(&definition, NOW)[1..7],
            ["Namespaced", "v1(storage),v2", "2026-01-01T00:00:00Z", "example.com", "Foo", "fo"]
        );
        assert_eq!(STRATEGY.rows.cells(&definition, NOW)[7], true);
    }
}
