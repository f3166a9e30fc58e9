//! Nodes.

use super::Strategy;
use crate::admission::nodes;
use crate::defaults;
use crate::lifecycle::disabled_fields;
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field};
use crate::table::{Rows, cluster};
use crate::validation::node;

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: defaults::cluster::node,
    keeps_sent_status: true,
    prepare: |_, old, new| {
        disabled_fields::drop(old, new, |node, visit| {
            disabled_fields::fields(node, "/spec", &["configSource", "podPreemptionPolicy"], visit);
        });
    },
    admit: |old, new| {
        if old.is_none() {
            nodes::keep_pods_away(new);
        }
    },
    validate: |errors, _, old, new| {
        node::node(errors, new);
        if let Some(old) = old {
            node::changes(errors, old, new);
        }
    },
    validate_status: |errors, _, _, new| node::status(errors, new),
    warnings: |warnings, _, new| warnings.extend(node::warnings(&new["spec"])),
    rows: Rows::new(cluster::NODE, cluster::node),
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        field("spec.unschedulable", Source::Flag("spec.unschedulable")),
    ]),
    ..Strategy::DEFAULT
};
