//! Adapts managed fields to a changed definition: values that became atomic are owned as a whole.

use super::shape::{Parts, Shape};
use super::{FieldNode, FieldSet, ManagedFields, PathElement};
use gantry_schema::kinds::Nature;

/// Adapts managed fields to the current schema. The built-in schema does not change, so only custom kinds are
/// considered.
pub(crate) fn reconcile(managed: &mut ManagedFields, nature: &Nature) {
    if matches!(nature, Nature::Custom(_)) {
        managed.for_each_set(|fields| fit_below(Shape::root(nature), fields));
    }
}

fn fit_below(shape: Shape<'_>, fields: &mut FieldSet) {
    for (element, node) in fields.nodes_mut() {
        let inner = match element {
            PathElement::Field(name) => shape.member(name),
            _ => (shape.parts() == Parts::Elements).then(|| shape.element()),
        };
        if let Some(inner) = inner {
            fit(inner, node);
        }
    }
}

fn fit(shape: Shape<'_>, node: &mut FieldNode) {
    if node.below.is_empty() {
        return;
    }
    match (shape.parts(), shape) {
        // The current definition does not declare paths below a scalar.
        (Parts::None, Shape::Scalar(_)) => {}
        (Parts::None, _) => *node = FieldNode::leaf(),
        _ => fit_below(shape, &mut node.below),
    }
}
