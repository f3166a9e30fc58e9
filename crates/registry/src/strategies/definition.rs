//! CustomResourceDefinitions.

use super::Strategy;
use crate::defaults;
use crate::lifecycle::{self, Part};
use crate::table::{Rows, cluster};
use crate::validation::{definition, warnings};

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::definition::definition,
    initial_status: |definition| Some(defaults::definition::first_status(definition)),
    prepare: |part, old, new| {
        if let (Part::Main, Some(_)) = (part, old) {
            lifecycle::definition::remember_stored_version(new);
        }
    },
    validate: |errors, _, old, new| match old {
        None => definition::create(errors, new),
        Some(old) => definition::update(errors, old, new),
    },
    validate_status: |errors, _, _, new| definition::status(errors, new),
    warnings: |warnings, old, new| {
        warnings::new_only(warnings, old, new, |warnings, definition| {
            warnings.extend(definition::warnings(&definition["spec"]));
        });
    },
    any_finalizers: true,
    delete: lifecycle::definition::delete,
    rows: Rows::new(cluster::RESOURCE_DEFINITION, cluster::resource_definition),
    ..Strategy::DEFAULT
};
