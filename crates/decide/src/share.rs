//! A count or a percentage of pods, resolved against how many pods there should be.

use gantry_model::Limit;

/// The limit in pods; a fraction of a pod counts as a whole one.
pub(crate) fn round_up(limit: Limit, desired: i64) -> i64 {
    match limit {
        Limit::Count(count) => count.into(),
        // Negated twice, because integer division has a floor but no ceiling.
        Limit::Percent(percent) => within_field(-(-(i64::from(percent) * desired)).div_euclid(100)),
    }
}

/// A number of pods cut to what a field of the API can hold.
pub(crate) fn within_field(pods: i64) -> i64 {
    pods.clamp(i32::MIN.into(), i32::MAX.into())
}
