//! PodTemplates.

use super::Strategy;
use crate::defaults;
use crate::lifecycle::disabled_fields;
use crate::table::{Rows, storage};
use crate::validation::error_list::Path;
use crate::validation::template;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::pod::template,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |object, visit| {
            disabled_fields::pod(object, "/template/spec", visit)
        });
    },
    validate: |errors, _, _, new| template::template(errors, &Path::new("template"), &new["template"]),
    rows: Rows::new(storage::POD_TEMPLATE, storage::pod_template),
    ..Strategy::DEFAULT
};
