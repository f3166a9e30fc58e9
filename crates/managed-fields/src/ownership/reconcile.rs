//! Records of ownership and definitions that changed since: what became one whole is owned as one whole.

use super::shape::{Parts, Shape};
use super::{FieldNode, FieldSet, ManagedFields, PathElement};
use gantry_schema::kinds::Nature;

/// Makes a record fit the kind's shape of today. What is compiled in does not change, so only custom kinds are looked at.
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
        // What lies below a scalar is nothing that today's definition could tell about.
        (Parts::None, Shape::Scalar(_)) => {}
        (Parts::None, _) => *node = FieldNode::leaf(),
        _ => fit_below(shape, &mut node.below),
    }
}
