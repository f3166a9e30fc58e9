//! VolumeAttachments.

use super::Strategy;
use crate::table::{self, Rows};
use crate::validation::storage;

pub(super) const STRATEGY: Strategy = Strategy {
    validate: |errors, _, old, new| storage::attachment(errors, old, new),
    rows: Rows::new(table::storage::ATTACHMENT, table::storage::attachment),
    ..Strategy::DEFAULT
};
