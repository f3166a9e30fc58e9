//! Whether a number is in the range that a schema gives it.

use serde_json::{Number, Value, json};

use super::Basic;
use super::formats::Format;
use super::outcome::Outcome;
use super::rules::{Bound, NumberRules};
use gantry_primitives::Path;
use gantry_primitives::refusal::go_float;

/// A number as Kubernetes reads it: whole if it is written without a point and fits, real otherwise.
#[derive(Clone, Copy)]
pub(super) enum Read {
    Whole(i64),
    Real(f64),
}

/// Judges a number against its type, format and range.
pub(super) fn validate(
    outcome: &mut Outcome,
    at: &Path<'_>,
    number: Read,
    basic: Option<Basic>,
    format: Option<&Format>,
    rules: &NumberRules,
) {
    let fit = Fit { basic, format };
    fit.check(outcome, at, number, "Checked");
    if let Some(factor) = rules.multiple_of {
        let fits = fit.check(outcome, at, Read::Real(factor), "MultipleOf");
        multiple_of(outcome, at, number.compared(fits), factor);
    }
    if let Some(least) = rules.least {
        let fits = fit.check(outcome, at, Read::Real(least.at), "Minimum boundary");
        let beyond = if least.is_exclusive { "greater than" } else { "greater than or equal to" };
        let is_beyond = |order| order == std::cmp::Ordering::Less;
        bound(outcome, at, number.compared(fits), least, is_beyond, beyond);
    }
    if let Some(most) = rules.most {
        let fits = fit.check(outcome, at, Read::Real(most.at), "Maximum boundary");
        let beyond = if most.is_exclusive { "less than" } else { "less than or equal to" };
        let is_beyond = |order| order == std::cmp::Ordering::Greater;
        bound(outcome, at, number.compared(fits), most, is_beyond, beyond);
    }
}

/// What numbers a type and format have room for.
struct Fit<'a> {
    basic: Option<Basic>,
    format: Option<&'a Format>,
}

impl Read {
    /// Reads a number.
    pub(super) fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(whole) => Self::Whole(whole),
            None => Self::Real(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// Whether it is a whole number, though it may be written with a point.
    pub(super) fn is_whole(self) -> bool {
        /// The largest number to which one can be added, in JavaScript.
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

    /// A whole number is compared as one only to what is of its type.
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
    /// Whether a number fits; if not, that is an error.
    fn check(&self, outcome: &mut Outcome, at: &Path<'_>, number: Read, what: &str) -> bool {
        let fits = match (self.basic, self.format, number) {
            (Some(Basic::Integer), Some(Format::Int32), Read::Whole(whole)) => i32::try_from(whole).is_ok(),
            (Some(Basic::Integer), Some(Format::Int32), Read::Real(real)) => {
                real.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&real)
            }
            (Some(Basic::Integer), _, Read::Real(real)) => real.fract() == 0.0 && truncated(real).is_some(),
            (Some(Basic::Number), Some(Format::Float), number) => number.real().abs() <= f64::from(f32::MAX),
            _ => true,
        };
        if !fits {
            let basic = self.basic.map_or("", Basic::name);
            outcome.elsewhere(match self.format {
                Some(format) => {
                    format!("{what} value must be of type {basic} with format {} in {at}", format.name())
                }
                None => format!("{what} value must be of type {basic} (default format) in {at}"),
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
    // Whole numbers are divided by whole ones, even if there is nothing left of the factor then.
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

/// The whole part of a number, if there is room for it.
#[expect(clippy::cast_possible_truncation, reason = "it is in range, and the rest is meant to go")]
fn truncated(real: f64) -> Option<i64> {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    (-TWO_TO_THE_63..TWO_TO_THE_63).contains(&real).then_some(real as i64)
}
