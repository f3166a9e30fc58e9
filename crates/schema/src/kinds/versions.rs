//! The order of preference of the versions of a group.
//!
//! Versions in Kubernetes' numbering come first: stable ones, then betas, then alphas, the latest of each first. Other
//! names come after them in alphabetical order.

use std::cmp::Reverse;

/// The rank of a version in its group: the least is the most preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority<'v> {
    /// `v2beta1`: how stable, then the numbers.
    Numbered(Reverse<(Stage, u64, u64)>),
    /// Any other name.
    Named(&'v str),
}

/// How stable a version is, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words of Kubernetes")]
pub enum Stage {
    Alpha,
    Beta,
    Stable,
}

/// The rank of a version in its group.
pub fn version_priority(version: &str) -> Priority<'_> {
    match numbered(version) {
        Some(numbers) => Priority::Numbered(Reverse(numbers)),
        None => Priority::Named(version),
    }
}

fn numbered(version: &str) -> Option<(Stage, u64, u64)> {
    let numbers = version.strip_prefix('v')?;
    for (word, stage) in [("alpha", Stage::Alpha), ("beta", Stage::Beta)] {
        if let Some((major, minor)) = numbers.split_once(word) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((Stage::Stable, number(numbers)?, 0))
}

/// Parses digits only; a sign is not allowed.
fn number(digits: &str) -> Option<u64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix E: each line is one group's versions, most preferred first.
    #[test]
    fn versions_are_in_the_order_of_their_stability() {
        let groups = [
            "v2 v1 v1beta2 v1beta1 v1alpha1 foo10",
            "v10 v2 v1 v11beta2 v10beta3 v3beta1 v12alpha1 v11alpha2 foo1 foo10",
            "v1 v2alpha1",
            "v1beta1 v2alpha3",
            "v1beta10 v1beta2",
            "v1 bar foo",
            "v1 V2 v v+3 v1.1 v1alpha v1alpha1.1 v1beta1x v1rc1 vbeta1 version1 version10 version2",
            "v9223372036854775807 v1 v99999999999999999999",
        ];
        for group in groups {
            let wanted: Vec<_> = group.split(' ').collect();
            for turn in 0..wanted.len() {
                let mut versions = wanted.clone();
                versions.rotate_left(turn);
                versions.sort_by_key(|version| version_priority(version));
                assert_eq!(versions, wanted);
            }
        }
    }
}
