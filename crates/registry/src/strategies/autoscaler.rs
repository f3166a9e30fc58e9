//! HorizontalPodAutoscalers. Both versions are stored as `v2`.

use super::Strategy;
use crate::conversion::{StorageForm, autoscaler};
use crate::defaults::autoscaling;
use crate::table::{Rows, workloads};
use crate::validation;

pub(super) const V2: Strategy = Strategy {
    defaults: autoscaling::autoscaler,
    validate: |errors, _, old, new| validation::autoscaler::autoscaler(errors, old, new),
    validate_status: |errors, _, _, new| validation::autoscaler::status(errors, new),
    rows: Rows::new(workloads::AUTOSCALER, workloads::autoscaler),
    ..Strategy::DEFAULT
};

pub(super) const V1: Strategy = Strategy {
    defaults: autoscaling::first_version,
    storage: Some(StorageForm {
        group: "autoscaling",
        version: "v2",
        kind: "HorizontalPodAutoscaler",
        to_storage: autoscaler::to_second,
        from_storage: autoscaler::to_first,
    }),
    ..V2
};
