//! Schemas of which a value has to match any, one, all or none.

use super::Structure;
use super::outcome::Outcome;
use super::rules::Rules;
use gantry_primitives::Path;
use gantry_primitives::refusal::quoted;

/// `anyOf`, `oneOf`, `allOf` and `not`, in this order.
pub(super) fn validate(rules: &Rules, at: &Path<'_>, judged: impl Fn(&Structure) -> Outcome) -> Outcome {
    let mut outcome = Outcome::default();
    let here = || quoted(&at.to_string());
    if !rules.any_of.is_empty() {
        let found = Alternatives::validate(&rules.any_of, 1, &judged);
        if found.valid == 0 {
            outcome.elsewhere(format!("{} must validate at least one schema (anyOf)", here()));
        }
        outcome.merge(found.best);
    }
    if !rules.one_of.is_empty() {
        let found = Alternatives::validate(&rules.one_of, usize::MAX, &judged);
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
    for found in rules.all_of.iter().map(&judged) {
        valid += usize::from(found.errors.is_empty());
        outcome.merge(found);
    }
    if valid < rules.all_of.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        outcome.elsewhere(format!("{} must validate all the schemas (allOf){none}", here()));
    }
    if rules.not.as_ref().is_some_and(|not| judged(not).errors.is_empty()) {
        outcome.elsewhere(format!("{} must not validate the schema (not)", here()));
    }
    outcome
}

/// How a value fares with several schemas.
struct Alternatives {
    valid: usize,
    /// The first that is valid, otherwise the first of those that match most.
    best: Outcome,
}

impl Alternatives {
    /// Judges by one schema after the other until so many match.
    fn validate(schemas: &[Structure], enough: usize, judged: impl Fn(&Structure) -> Outcome) -> Self {
        let mut found = Self { valid: 0, best: Outcome::default() };
        for (index, schema) in schemas.iter().enumerate() {
            let outcome = judged(schema);
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
