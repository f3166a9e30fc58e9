//! Removes fields that a manager no longer applies.

use gantry_json::Value;

use crate::ownership::shape::{Parts, Shape, is_empty};
use crate::ownership::{FieldNode, FieldSet, PathElement};
use gantry_schema::kinds::Nature;

/// Removes fields that the manager applied before and that have no owner now.
///
/// A declared field is owned if anything below it is; an element of a list or a key of a map is removed with everything
/// below it if the element itself has no owner. An owned object or list that becomes empty is set to `null`, so that it
/// remains owned; the schema decides whether that is valid.
pub(super) fn prune(nature: &Nature, object: &mut Value, last: &FieldSet, owned: &FieldSet) {
    prune_value(Shape::root(nature), object, last, owned);
}

/// Removes these fields and everything below them; only plain fields are supported.
pub(super) fn remove(object: &mut Value, paths: &FieldSet) {
    let Some(members) = object.as_object_mut() else { return };
    for (element, node) in paths.nodes() {
        let PathElement::Field(name) = element else { continue };
        if node.owned {
            members.remove(name);
        } else if let Some(member) = members.get_mut(name) {
            remove(member, &node.below);
        }
    }
}

fn prune_value(shape: Shape<'_>, value: &mut Value, last: &FieldSet, owned: &FieldSet) {
    match (shape.parts(), value) {
        (Parts::Members | Parts::Deduced, Value::Object(members)) => {
            members.retain(|name, member| {
                let element = PathElement::field(name);
                let Some(mine) = last.node(&element) else { return true };
                let filter =
                    PruneFilter { mine, owned: owned.node(&element), declared: shape.declares(name) };
                stays(shape.member(name), member, filter)
            });
        }
        (Parts::Elements, Value::Array(elements)) => {
            let mut index = 0;
            elements.retain_mut(|element| {
                let name = shape.name_of(element).unwrap_or(PathElement::Index(index));
                index += 1;
                let Some(mine) = last.node(&name) else { return true };
                let filter = PruneFilter { mine, owned: owned.node(&name), declared: false };
                stays(Some(shape.element()), element, filter)
            });
        }
        _ => {}
    }
}

/// Decides whether a member or an element is kept.
#[derive(Clone, Copy)]
struct PruneFilter<'a> {
    mine: &'a FieldNode,
    owned: Option<&'a FieldNode>,
    declared: bool,
}

fn stays(shape: Option<Shape<'_>>, value: &mut Value, filter: PruneFilter<'_>) -> bool {
    let PruneFilter { mine, owned, declared } = filter;
    let unowned = FieldSet::new();
    let is_owned = owned.is_some_and(|node| node.owned || declared);
    if (mine.owned || declared) && !is_owned {
        return false;
    }
    let was_empty = is_empty(Some(value));
    if let Some(shape) = shape {
        prune_value(shape, value, &mine.below, owned.map_or(&unowned, |node| &node.below));
    }
    if !was_empty && is_empty(Some(value)) {
        *value = Value::Null;
    }
    true
}
