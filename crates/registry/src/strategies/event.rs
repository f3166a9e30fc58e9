//! Events, of the core group and of `events.k8s.io`, which are stored as events of the core group.

use super::Strategy;
use crate::conversion::{StorageForm, event};
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field, text};
use crate::table::{Rows, events};
use crate::validation;

pub(super) const CORE: Strategy = Strategy {
    validate: |errors, kind, old, new| match old {
        None => validation::event::create(errors, kind, new),
        Some(old) => validation::event::update(errors, kind, old, new),
    },
    rows: Rows::new(events::COLUMNS, events::cells),
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
    ..Strategy::DEFAULT
};

pub(super) const EVENTS: Strategy = Strategy {
    storage: Some(StorageForm {
        group: "",
        version: "v1",
        kind: "Event",
        to_storage: event::to_core,
        from_storage: event::from_core,
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
