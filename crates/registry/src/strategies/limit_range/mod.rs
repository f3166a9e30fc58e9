//! LimitRanges.

mod validation;

use super::Strategy;
use crate::defaults;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::resources::limit_range,
    validate: |errors, _, _, new| validation::limit_range(errors, new),
    ..Strategy::DEFAULT
};
