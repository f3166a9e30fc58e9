//! The strategy of LimitRanges.

mod validation;

use super::KindStrategy;
use crate::defaults;

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: defaults::resources::limit_range,
    validate: |errors, _, _, new| validation::limit_range(errors, new),
    ..KindStrategy::DEFAULT
};
