//! Versions: `semver('1.2.3').isLessThan(semver('2.0.0'))`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::Value;

pub(super) const FUNCTIONS: &[&str] = &[
    "semver(string) Semver",
    "semver(string, bool) Semver",
    "isSemver(string) bool",
    "isSemver(string, bool) bool",
    "Semver.major() int",
    "Semver.minor() int",
    "Semver.patch() int",
    "Semver.isLessThan(Semver) bool",
    "Semver.isGreaterThan(Semver) bool",
    "Semver.compareTo(Semver) int",
];

/// A semantic version; build metadata is ignored in comparisons.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    numbers: [u64; 3],
    before: Vec<String>,
    /// The length of its text, which is the cost of comparing it.
    letters: usize,
}

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    if let Some(Value::Text(text)) = args.first()
        && let Err(fault) = meter.traverse(text.len())
    {
        return Some(Err(fault));
    }
    if let [Value::Version(one), Value::Version(other)] = args
        && let Err(fault) = meter.traverse(one.letters.min(other.letters))
    {
        return Some(Err(fault));
    }
    let read = |text: &str, rest: &[Value<'_>]| match rest {
        [] | [Value::Bool(false)] => Some(Version::read(text)),
        [Value::Bool(true)] => Some(Version::read(&normal(text))),
        _ => None,
    };
    let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    Some(Ok(match (name, args) {
        ("semver", [Value::Text(text), rest @ ..]) => match read(text, rest)? {
            Some(version) => Value::Version(Rc::new(version)),
            None => return Some(Err(EvaluationError::new(format!("invalid semver {text:?}")))),
        },
        ("isSemver", [Value::Text(text), rest @ ..]) => Value::Bool(read(text, rest)?.is_some()),
        ("major", [Value::Version(version)]) => number(version.numbers[0]),
        ("minor", [Value::Version(version)]) => number(version.numbers[1]),
        ("patch", [Value::Version(version)]) => number(version.numbers[2]),
        ("isLessThan", [Value::Version(one), Value::Version(other)]) => Value::Bool(one.order(other).is_lt()),
        ("isGreaterThan", [Value::Version(one), Value::Version(other)]) => {
            Value::Bool(one.order(other).is_gt())
        }
        ("compareTo", [Value::Version(one), Value::Version(other)]) => Value::Int(one.order(other) as i64),
        _ => return None,
    }))
}

impl Version {
    fn read(text: &str) -> Option<Self> {
        let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        let (core, before) = text.split_once('-').map_or((text, None), |(core, before)| (core, Some(before)));
        let mut parts = core.split('.').map(whole);
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        let before: Vec<_> = before.map(|before| before.split('.').collect()).unwrap_or_default();
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let fits = |word: &&str| is_word(word) && (!is_digits(word) || whole(word).is_some());
        let is_whole = parts.next().is_none()
            && before.iter().all(fits)
            && build.is_none_or(|build| build.split('.').all(is_word));
        let letters = text.len();
        is_whole.then(|| Self { numbers, before: before.into_iter().map(str::to_owned).collect(), letters })
    }

    /// The order of pre-releases: before releases, numbers before words.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let tagged = |version: &Self| version.before.is_empty();
        let by_parts = || {
            let pairs = self.before.iter().zip(&other.before);
            let mut orders = pairs.map(|(one, other)| match (whole(one), whole(other)) {
                (Some(one), Some(other)) => one.cmp(&other),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => one.cmp(other),
            });
            orders.find(|order| order.is_ne()).unwrap_or(self.before.len().cmp(&other.before.len()))
        };
        self.numbers.cmp(&other.numbers).then(tagged(self).cmp(&tagged(other))).then_with(by_parts)
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// A number without leading zeros.
fn whole(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && is_digits(text) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

/// Normalizes `v01.2` to `1.2.0`.
fn normal(text: &str) -> String {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (core, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let mut parts: Vec<_> = core
        .split('.')
        .map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0",
            rest => rest,
        })
        .collect();
    while parts.len() < 3 {
        parts.push("0");
    }
    format!("{}{rest}", parts.join("."))
}
