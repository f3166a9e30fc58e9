//! HorizontalPodAutoscalers. Both versions are stored as `v2`.

mod conversion;
mod defaults;
mod table;
mod validation;

use super::KindStrategy;
use crate::conversion::StorageForm;
use crate::table::Rows;

pub(super) const V2: KindStrategy = KindStrategy {
    defaults: defaults::autoscaler,
    validate: |errors, _, old, new| validation::autoscaler(errors, old, new),
    validate_status: |errors, _, _, new| validation::status(errors, new),
    rows: Rows::new(table::AUTOSCALER),
    ..KindStrategy::DEFAULT
};

pub(super) const V1: KindStrategy = KindStrategy {
    defaults: defaults::first_version,
    storage: Some(StorageForm {
        group: "autoscaling",
        version: "v2",
        kind: "HorizontalPodAutoscaler",
        to_storage: conversion::to_second,
        from_storage: conversion::to_first,
    }),
    ..V2
};
