//! The strategy of PodTemplates.

use super::KindStrategy;
use crate::defaults;
use crate::lifecycle::disabled_fields;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::Path;
use crate::validation::template;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Containers").joined_at("template.spec.containers", "name"),
    column::text("Images").joined_at("template.spec.containers", "image"),
    column::text("Pod Labels").labels_at("template.metadata.labels"),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: defaults::pod::template,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |object, visit| {
            disabled_fields::pod(object, "/template/spec", visit);
        });
    },
    validate: |errors, _, _, new| template::template(errors, &Path::new("template"), &new["template"]),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};
