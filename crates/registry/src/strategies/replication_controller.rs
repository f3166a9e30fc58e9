//! The strategy of ReplicationControllers.

use gantry_json::Value;

use super::{KindStrategy, replica_set};
use crate::admission::quota::QuotaRules;
use crate::defaults::pod;
use crate::defaults::setting::{Object, child, default, ensure, is_empty};
use crate::defaults::workload::{default_labels, label_by_template, template_labels};
use crate::lifecycle::Part;
use crate::selector::LabelSelector;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field};
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path, is_set, members};
use crate::validation::template;

const COLUMNS: &[TableColumn] = &replica_set::columns(column::wide("Selector").labels_at("spec.selector"));

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    prepare: |part, old, new| {
        if part == Part::Status {
            label_by_template(new);
        }
        (replica_set::STRATEGY.prepare)(part, old, new);
    },
    validate: |errors, _, _, new| validate(errors, new),
    // Its selector may change.
    validate_change: |_, _, _| {},
    pod_selector: |controller| LabelSelector::from_labels(&controller["spec"]["selector"]),
    quota: QuotaRules::new(|usage, _| usage.count("replicationcontrollers")),
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        field("status.replicas", Source::Number("status.replicas")),
    ]),
    ..replica_set::STRATEGY
};

/// Sets defaults; the default selector and labels are the labels of the template.
fn set_defaults(controller: &mut Object) {
    let Some(spec) = ensure(controller, "spec") else { return };
    default(spec, "replicas", 1);
    if child(spec, "template").is_some() {
        pod::template(spec);
    }
    let Some(labels) = template_labels(spec) else { return };
    if is_empty(spec, "selector") {
        spec.insert("selector", labels.clone());
    }
    default_labels(controller, labels);
}

/// Validates the spec, whose selector is a map of labels.
fn validate(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let selects = members(spec, "selector").next().is_some();
    if !selects {
        errors.required(&at.child("selector"), "");
    }
    if is_set(spec, "template") {
        let labels = &spec["template"]["metadata"]["labels"];
        if selects && !members(spec, "selector").all(|(key, value)| &labels[key.as_str()] == value) {
            let (template, why) = (at.child("template"), "`selector` does not match template `labels`");
            errors.invalid(&template.child("metadata").child("labels"), labels, why);
        }
        template::restarting_template(errors, &at, spec, "ReplicationController");
    } else {
        errors.required(&at.child("template"), "");
    }
    errors.not_negative(&at, spec, "replicas");
    errors.not_negative(&at, spec, "minReadySeconds");
}
