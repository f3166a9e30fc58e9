//! DeviceClasses, ResourceClaims, ResourceClaimTemplates and ResourceSlices.

use super::Strategy;
use crate::table::{Rows, devices};

pub(super) const NAMED: Strategy =
    Strategy { rows: Rows::new(devices::NAMED, devices::named), ..Strategy::DEFAULT };
pub(super) const CLAIM: Strategy =
    Strategy { rows: Rows::new(devices::CLAIM, devices::claim), ..Strategy::DEFAULT };
pub(super) const SLICE: Strategy =
    Strategy { rows: Rows::new(devices::SLICE, devices::slice), ..Strategy::DEFAULT };
