//! The strategy of PodTemplates.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::lifecycle::disabled_fields;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::Path;
use crate::validation::template;
use crate::{Timestamp, defaults};

const COLUMNS: &[Column] =
    &[column::NAME, column::text("Containers"), column::text("Images"), column::text("Pod Labels")];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: defaults::pod::template,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |object, visit| {
            disabled_fields::pod(object, "/template/spec", visit);
        });
    },
    validate: |errors, _, _, new| template::template(errors, &Path::new("template"), &new["template"]),
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, _: Timestamp) -> Vec<Value> {
    let containers = cell::list(object, "template.spec.containers");
    vec![
        json!(cell::name(object)),
        json!(cell::joined(containers, "name")),
        json!(cell::joined(containers, "image")),
        json!(cell::labels(object, "template.metadata.labels")),
    ]
}
