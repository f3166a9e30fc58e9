//! Validation by `anyOf`, `oneOf`, `allOf` and `not`.

use super::StructuralSchema;
use super::constraints::Constraints;
use super::outcome::Outcome;
use gantry_primitives::Path;
use gantry_primitives::refusal::quoted;

/// Validates a value by `anyOf`, `oneOf`, `allOf` and `not`, in this order.
pub(super) fn validate(
    constraints: &Constraints,
    at: &Path<'_>,
    validate: impl Fn(&StructuralSchema) -> Outcome,
) -> Outcome {
    let mut outcome = Outcome::default();
    let here = || quoted(&at.to_string());
    if !constraints.any_of.is_empty() {
        let found = Alternatives::validate(&constraints.any_of, 1, &validate);
        if found.valid == 0 {
            outcome.elsewhere(format!("{} must validate at least one schema (anyOf)", here()));
        }
        outcome.merge(found.best);
    }
    if !constraints.one_of.is_empty() {
        let found = Alternatives::validate(&constraints.one_of, usize::MAX, &validate);
        if found.valid != 1 {
            let how_many = match found.valid {
                0 => "Found none valid".to_owned(),
                several => format!("Found {several} valid alternatives"),
            };
            outcome
                .elsewhere(format!("{} must validate one and only one schema (oneOf). {how_many}", here()));
        }
        if found.valid <= 1 {
            outcome.merge(found.best);
        }
    }
    let mut valid = 0;
    for found in constraints.all_of.iter().map(&validate) {
        valid += usize::from(found.errors.is_empty());
        outcome.merge(found);
    }
    if valid < constraints.all_of.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        outcome.elsewhere(format!("{} must validate all the schemas (allOf){none}", here()));
    }
    if constraints.not.as_ref().is_some_and(|not| validate(not).errors.is_empty()) {
        outcome.elsewhere(format!("{} must not validate the schema (not)", here()));
    }
    outcome
}

/// The outcomes of a value with several schemas.
struct Alternatives {
    valid: usize,
    /// The first valid outcome, otherwise the first with the most matches.
    best: Outcome,
}

impl Alternatives {
    /// Validates by each schema until so many match.
    fn validate(
        schemas: &[StructuralSchema],
        enough: usize,
        validate: impl Fn(&StructuralSchema) -> Outcome,
    ) -> Self {
        let mut found = Self { valid: 0, best: Outcome::default() };
        for (index, schema) in schemas.iter().enumerate() {
            let outcome = validate(schema);
            let is_valid = outcome.errors.is_empty();
            let is_better = found.valid == 0 && (is_valid || outcome.matched > found.best.matched);
            if index == 0 || is_better {
                found.best = outcome;
            }
            found.valid += usize::from(is_valid);
            if found.valid == enough {
                break;
            }
        }
        found
    }
}
