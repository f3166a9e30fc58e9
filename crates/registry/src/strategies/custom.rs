//! The strategy of custom resources: their rules are in their definition.

use gantry_json::Value;

use super::KindStrategy;
use crate::FieldError;
use crate::custom::Custom;
use crate::kinds::{Kind, Nature};
use crate::lifecycle::{self, Part};
use crate::validation::{custom_objects, metadata};

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    prepare: |part, old, new| {
        if let (Part::Status, Some(old)) = (part, old) {
            lifecycle::keep_all_but_managed_fields(old, new);
        }
    },
    validate: |errors, kind, old, new| {
        let custom = custom(kind);
        let Some(old) = old else {
            return errors.all.extend(custom_objects::create(
                &custom.structural_schema,
                new,
                custom.scaling.as_ref(),
            ));
        };
        let result = custom_objects::update(&custom.structural_schema, old, new, custom.scaling.as_ref());
        errors.all.extend(result.errors);
        errors.warnings.extend(as_warnings(&result.ratcheted));
    },
    validate_status: |errors, kind, old, new| {
        let custom = custom(kind);
        let result =
            custom_objects::update_status(&custom.structural_schema, old, new, custom.scaling.as_ref());
        errors.all.extend(result.errors);
        errors.warnings.extend(as_warnings(&result.ratcheted));
    },
    warnings: |warnings, old, new| {
        warnings.extend(metadata::finalizer_warnings(old.unwrap_or(&Value::Null), new));
    },
    any_finalizers: true,
    status_reset_fields: &["metadata", "spec"],
    deprecation: |kind| custom(kind).deprecation.as_deref(),
    ..KindStrategy::DEFAULT
};

fn custom(kind: &Kind) -> &Custom {
    match &kind.nature {
        Nature::Custom(custom) => custom,
        Nature::BuiltIn(_) => unreachable!("only custom kinds have this strategy"),
    }
}

/// Converts ratcheted errors to warnings.
fn as_warnings(ratcheted: &[FieldError]) -> impl Iterator<Item = String> {
    ratcheted.iter().map(ToString::to_string)
}
