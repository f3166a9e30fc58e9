//! `maxSurge` and `maxUnavailable` as written: a count or a percentage.

use std::fmt;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// A limit of a rolling update, not yet resolved against a replica count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number of pods.
    Count(i32),
    /// A percentage.
    Percent(i32),
}

/// A limit that is neither a number nor a percentage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLimit {
    written: String,
}

impl Limit {
    /// Parses a limit; an absent one is zero.
    pub fn parse(field: Option<&IntOrString>) -> Result<Self, InvalidLimit> {
        match field {
            None => Ok(Self::Count(0)),
            Some(IntOrString::Int(count)) => Ok(Self::Count(*count)),
            Some(IntOrString::String(text)) => text
                .strip_suffix('%')
                .and_then(|number| number.parse().ok())
                .map(Self::Percent)
                .ok_or_else(|| InvalidLimit { written: text.clone() }),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for InvalidLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid value for IntOrString: invalid type: string {:?} is not a percentage (write 3 or \"25%\")",
            self.written
        )
    }
}

impl std::error::Error for InvalidLimit {}
