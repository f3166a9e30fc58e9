//! The `Scale` of a subresource `scale`.

use super::Strategy;
use crate::table::{Rows, workloads};

pub(super) const STRATEGY: Strategy =
    Strategy { rows: Rows::new(workloads::SCALE, workloads::scale), ..Strategy::DEFAULT };
