//! The difference between two objects of a kind, as sets of paths.

use std::collections::BTreeMap;

use gantry_json::Value;

use super::fields_of::own_managed_fields;
use super::shape::{Parts, Shape, as_list, as_object, is_empty};
use super::{FieldNode, FieldSet, PathElement};
use gantry_schema::empties::is_omitted_if_empty;
use gantry_schema::kinds::Nature;
use gantry_schema::schema::{Type, schema};

/// The difference between an old object and a new one. The order of lists with keys is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Added paths, containers included.
    pub added: FieldSet,
    /// Paths with changed values.
    pub modified: FieldSet,
    /// Removed paths, containers included.
    pub removed: FieldSet,
}

/// The change of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    Added,
    Modified,
    Removed,
}

/// Whether an empty list or map that JSON omits counts as present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empties {
    Present,
    Omitted,
}

/// Compares two objects of this kind; `managedFields` is ignored.
pub fn compare(nature: &Nature, old: &Value, new: &Value) -> Comparison {
    compare_objects(nature, old, new, Empties::Present)
}

/// Compares a stored object with the one that replaces it.
///
/// An empty list or map that JSON omits counts as absent, except within a list that is owned as a whole.
pub fn compare_written(nature: &Nature, old: &Value, new: &Value) -> Comparison {
    compare_objects(nature, old, new, Empties::Omitted)
}

fn compare_objects(nature: &Nature, old: &Value, new: &Value, empties: Empties) -> Comparison {
    let mut comparison = Comparison::default();
    compare_members(Shape::root(nature), Some(old), Some(new), empties, &mut comparison);
    comparison.ignore(own_managed_fields());
    comparison
}

impl Comparison {
    /// Whether nothing differs.
    pub fn is_same(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    /// Drops differences at these paths and below them.
    pub fn ignore(&mut self, paths: &FieldSet) {
        for set in [&mut self.added, &mut self.modified, &mut self.removed] {
            set.subtract_below(paths);
        }
    }

    /// The added and changed paths.
    pub fn gained(&self) -> FieldSet {
        self.added.union(&self.modified)
    }

    /// The added and changed paths, and the removed ones.
    pub(super) fn into_gained_and_removed(self) -> (FieldSet, FieldSet) {
        let mut gained = self.added;
        gained.absorb(self.modified);
        (gained, self.removed)
    }

    fn insert(&mut self, element: &PathElement, change: Change, below: Self) {
        let sets = [
            (&mut self.added, Change::Added, below.added),
            (&mut self.modified, Change::Modified, below.modified),
            (&mut self.removed, Change::Removed, below.removed),
        ];
        for (set, kind, below) in sets {
            let node = FieldNode { owned: change == kind, below };
            if !node.is_empty() {
                set.insert_node(element.clone(), node);
            }
        }
    }
}

fn compare_node(
    shape: Shape<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    empties: Empties,
) -> (Change, Comparison) {
    let mut below = Comparison::default();
    let leaf = match shape.parts() {
        Parts::None => true,
        parts => {
            let leaf = is_empty(old) && is_empty(new);
            match parts {
                _ if leaf => {}
                Parts::Elements => compare_elements(shape, old, new, empties, &mut below),
                _ => compare_members(shape, old, new, empties, &mut below),
            }
            // A change between an object and another type changes the value itself.
            leaf || parts == Parts::Deduced && !(may_have_members(old) && may_have_members(new))
        }
    };
    let change = match (old, new) {
        (None, Some(_)) => Change::Added,
        (Some(_), None) => Change::Removed,
        (Some(old), Some(new)) if leaf && !same_leaf(shape, old, new, empties) => Change::Modified,
        _ => Change::None,
    };
    (change, below)
}

fn compare_members(
    shape: Shape<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    empties: Empties,
    into: &mut Comparison,
) {
    let (old, new) = (as_object(old), as_object(new));
    let is_there = |name: &str, value: &&Value| empties == Empties::Present || !shape.omits(name, value);
    let mut visit = |name: &str, before: Option<&Value>, after: Option<&Value>| {
        if let (Some(before), Some(after)) = (before, after)
            && after.is_clone_of(before)
        {
            return;
        }
        let Some(inner) = shape.member(name) else { return };
        let (before, after) =
            (before.filter(|value| is_there(name, value)), after.filter(|value| is_there(name, value)));
        let (change, below) = compare_node(inner, before, after, empties);
        if change != Change::None || !below.is_same() {
            into.insert(&PathElement::field(name), change, below);
        }
    };
    for (name, before) in old.into_iter().flatten() {
        visit(name, Some(before), new.and_then(|new| new.get(name)));
    }
    for (name, after) in new.into_iter().flatten() {
        if old.is_none_or(|old| !old.contains_key(name)) {
            visit(name, None, Some(after));
        }
    }
}

fn compare_elements(
    shape: Shape<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    empties: Empties,
    into: &mut Comparison,
) {
    if old.is_some() && old == new {
        return;
    }
    let mut pairs: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
    for (name, element) in shape.named(as_list(old)) {
        pairs.entry(name).or_default().0.push(element);
    }
    for (name, element) in shape.named(as_list(new)) {
        pairs.entry(name).or_default().1.push(element);
    }
    for (name, (before, after)) in pairs {
        let mut compare_one = |before: Option<&Value>, after: Option<&Value>| {
            if let (Some(before), Some(after)) = (before, after)
                && after.is_clone_of(before)
            {
                return;
            }
            let (change, below) = compare_node(shape.element(), before, after, empties);
            into.insert(&name, change, below);
        };
        // Elements of the same name are one value: no manager owns parts of them.
        let change = match (&before[..], &after[..]) {
            ([] | [_], [] | [_]) => {
                compare_one(before.first().copied(), after.first().copied());
                Change::None
            }
            ([_, _, ..], [_, _, ..]) if before == after => Change::None,
            ([_, _, ..], [_, _, ..]) => Change::Modified,
            ([_, _, ..], _) => {
                compare_one(None, after.first().copied());
                Change::Removed
            }
            (_, _) => {
                compare_one(before.first().copied(), None);
                Change::Added
            }
        };
        if change != Change::None {
            into.insert(&name, change, Comparison::default());
        }
    }
}

/// Whether a value without a schema has members, or may have: `null` has the type of the other value.
fn may_have_members(value: Option<&Value>) -> bool {
    matches!(value, None | Some(Value::Null | Value::Object(_)))
}

fn same_leaf(shape: Shape<'_>, old: &Value, new: &Value, empties: Empties) -> bool {
    match shape {
        Shape::Atomic(kind) if empties == Empties::Omitted => same_written(kind, old, new),
        _ => same(old, new),
    }
}

/// Whether two values have the same JSON; lists must be identical.
fn same_written(kind: &Type, old: &Value, new: &Value) -> bool {
    let (Type::Message(id), Value::Object(old), Value::Object(new)) = (kind, old, new) else {
        return same(old, new);
    };
    old.keys().chain(new.keys()).all(|name| {
        let Some(field) = schema().field(*id, name) else { return old.get(name) == new.get(name) };
        let is_there = |value: &&Value| !is_omitted_if_empty(field, value);
        match (old.get(name).filter(is_there), new.get(name).filter(is_there)) {
            (Some(old), Some(new)) => same_written(&field.kind, old, new),
            (old, new) => old.is_none() && new.is_none(),
        }
    })
}

/// Whether two values are equal; `1` equals `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || (x.is_f64() != y.is_f64() && x.as_f64() == y.as_f64())
        }
        _ => a == b,
    }
}
