//! Validation of numbers.

use gantry_json::{Number, Value, json};

use super::SchemaType;
use super::constraints::{Bound, NumberConstraints};
use super::formats::Format;
use super::outcome::Outcome;
use gantry_primitives::Path;
use gantry_primitives::refusal::go_float;

/// A number as Kubernetes parses it: an integer if it has no fraction and fits, otherwise a double.
#[derive(Clone, Copy)]
pub(super) enum Read {
    Whole(i64),
    Real(f64),
}

/// Validates a number by its type, format and range.
pub(super) fn validate(
    outcome: &mut Outcome,
    at: &Path<'_>,
    number: Read,
    schema_type: Option<SchemaType>,
    format: Option<&Format>,
    constraints: &NumberConstraints,
) {
    let fit = Fit { schema_type, format };
    fit.check(outcome, at, number, "Checked");
    if let Some(factor) = constraints.multiple_of {
        let fits = fit.check(outcome, at, Read::Real(factor), "MultipleOf");
        multiple_of(outcome, at, number.compared(fits), factor);
    }
    if let Some(least) = constraints.least {
        let fits = fit.check(outcome, at, Read::Real(least.at), "Minimum boundary");
        let beyond = if least.is_exclusive { "greater than" } else { "greater than or equal to" };
        let is_beyond = |order| order == std::cmp::Ordering::Less;
        bound(outcome, at, number.compared(fits), least, is_beyond, beyond);
    }
    if let Some(most) = constraints.most {
        let fits = fit.check(outcome, at, Read::Real(most.at), "Maximum boundary");
        let beyond = if most.is_exclusive { "less than" } else { "less than or equal to" };
        let is_beyond = |order| order == std::cmp::Ordering::Greater;
        bound(outcome, at, number.compared(fits), most, is_beyond, beyond);
    }
}

/// The range of a type and format.
struct Fit<'a> {
    schema_type: Option<SchemaType>,
    format: Option<&'a Format>,
}

impl Read {
    /// Converts a JSON number.
    pub(super) fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(whole) => Self::Whole(whole),
            None => Self::Real(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// Whether it is an integer, possibly written with a fraction of zero.
    pub(super) fn is_whole(self) -> bool {
        /// The largest safe integer of JavaScript.
        const SAFE_MAX: f64 = 9_007_199_254_740_991.0;
        match self {
            Self::Whole(_) => true,
            Self::Real(real) => {
                let rounded = real.round();
                real.abs() <= SAFE_MAX && (real - rounded).abs() <= 1e-9 * rounded.abs()
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as Kubernetes compares them")]
    fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    /// Integers are compared as integers only if the bound is of the same type.
    fn compared(self, fits: bool) -> Self {
        if fits { self } else { Self::Real(self.real()) }
    }

    fn shown(self) -> String {
        match self {
            Self::Whole(whole) => whole.to_string(),
            Self::Real(real) => go_float(real),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Whole(whole) => json!(whole),
            Self::Real(real) => json!(real),
        }
    }
}

impl Fit<'_> {
    /// Reports an error if a number does not fit.
    fn check(&self, outcome: &mut Outcome, at: &Path<'_>, number: Read, what: &str) -> bool {
        let fits = match (self.schema_type, self.format, number) {
            (Some(SchemaType::Integer), Some(Format::Int32), Read::Whole(whole)) => {
                i32::try_from(whole).is_ok()
            }
            (Some(SchemaType::Integer), Some(Format::Int32), Read::Real(real)) => {
                real.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&real)
            }
            (Some(SchemaType::Integer), _, Read::Real(real)) => {
                real.fract() == 0.0 && truncated(real).is_some()
            }
            (Some(SchemaType::Number), Some(Format::Float), number) => {
                number.real().abs() <= f64::from(f32::MAX)
            }
            _ => true,
        };
        if !fits {
            let schema_type = self.schema_type.map_or("", SchemaType::name);
            outcome.elsewhere(match self.format {
                Some(format) => {
                    format!(
                        "{what} value must be of type {schema_type} with format {} in {at}",
                        format.name()
                    )
                }
                None => format!("{what} value must be of type {schema_type} (default format) in {at}"),
            });
        }
        fits
    }
}

fn bound(
    outcome: &mut Outcome,
    at: &Path<'_>,
    number: Read,
    bound: Bound,
    is_beyond: impl Fn(std::cmp::Ordering) -> bool,
    should_be: &str,
) {
    let (order, shown) = match (number, truncated(bound.at)) {
        (Read::Whole(whole), Some(end)) => (Some(whole.cmp(&end)), end.to_string()),
        _ => (number.real().partial_cmp(&bound.at), go_float(bound.at)),
    };
    let is_out = order.is_some_and(|order| is_beyond(order) || bound.is_exclusive && order.is_eq());
    if is_out {
        outcome.invalid(at, &number.value(), format!("{at} in body should be {should_be} {shown}"));
    }
}

fn multiple_of(outcome: &mut Outcome, at: &Path<'_>, number: Read, factor: f64) {
    // Integers are divided by the integer part of the factor, even if that is zero.
    let factor = match (number, truncated(factor)) {
        (Read::Whole(_), Some(whole)) => Read::Whole(whole),
        _ => Read::Real(factor),
    };
    let is_positive = factor.real() > 0.0;
    let is_multiple = match (number, factor) {
        (Read::Whole(number), Read::Whole(factor)) => number.checked_rem(factor) == Some(0),
        (_, factor) if factor.real() < 1.0 => Read::Real(1.0 / factor.real() * number.real()).is_whole(),
        (_, factor) => Read::Real(number.real() / factor.real()).is_whole(),
    };
    let shown = factor.shown();
    if !is_positive {
        let why = format!("factor MultipleOf declared for {at} must be positive: {shown}");
        outcome.invalid(at, &factor.value(), why);
    } else if !is_multiple {
        outcome.invalid(at, &number.value(), format!("{at} in body should be a multiple of {shown}"));
    }
}

/// The integer part of a number, if it fits.
#[expect(clippy::cast_possible_truncation, reason = "it is in range, and the fraction is dropped")]
fn truncated(real: f64) -> Option<i64> {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    (-TWO_TO_THE_63..TWO_TO_THE_63).contains(&real).then_some(real as i64)
}
