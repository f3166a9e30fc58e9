//! Events, of the core group and of `events.k8s.io`, which are stored as events of the core group.

mod conversion;
mod table;
mod validation;

use super::KindStrategy;
use crate::admission::quota::QuotaRules;
use crate::conversion::StorageForm;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field, text};
use crate::table::Rows;

pub(super) const CORE: KindStrategy = KindStrategy {
    validate: |errors, kind, old, new| match old {
        None => validation::create(errors, kind, new),
        Some(old) => validation::update(errors, kind, old, new),
    },
    quota: QuotaRules { is_recounted: false, ..QuotaRules::DEFAULT },
    rows: Rows { whole: Some(table::cells), ..Rows::new(table::COLUMNS) },
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        text("involvedObject.kind"),
        text("involvedObject.namespace"),
        text("involvedObject.name"),
        text("involvedObject.uid"),
        text("involvedObject.apiVersion"),
        text("involvedObject.resourceVersion"),
        text("involvedObject.fieldPath"),
        text("reason"),
        text("reportingComponent"),
        field("source", Source::Origin),
        text("type"),
    ]),
    ..KindStrategy::DEFAULT
};

pub(super) const EVENTS: KindStrategy = KindStrategy {
    storage: Some(StorageForm {
        group: "",
        version: "v1",
        kind: "Event",
        to_storage: conversion::to_core,
        from_storage: conversion::from_core,
    }),
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        text("regarding.kind"),
        text("regarding.namespace"),
        text("regarding.name"),
        text("regarding.uid"),
        text("regarding.apiVersion"),
        text("regarding.resourceVersion"),
        text("regarding.fieldPath"),
        text("reason"),
        text("reportingController"),
        text("type"),
    ]),
    ..CORE
};
