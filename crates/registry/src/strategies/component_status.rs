//! ComponentStatuses.

use super::Strategy;
use crate::table::{Rows, storage};

pub(super) const STRATEGY: Strategy = Strategy {
    rows: Rows::new(storage::COMPONENT, storage::component),
    deprecation: |_| Some("v1 ComponentStatus is deprecated in v1.19+"),
    ..Strategy::DEFAULT
};
