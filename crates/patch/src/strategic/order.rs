//! The order of the elements of a merged list (A3.9, A3.10).
//!
//! Elements that the patch names have its order, the others keep theirs. Both are then merged: of the two next
//! elements, the one that existed goes first only if it was before the other. New elements therefore come first, not
//! last: `a b c` patched with `d b` is `d a b c`.

use std::collections::{BTreeMap, VecDeque};

use gantry_json::Value;

use super::directives::PATCH;
use super::lists::{ElementIdentity, Identity};
use gantry_primitives::Refusal;
use gantry_primitives::go_print::list_as_go_prints;

/// The index of each element before the patch.
pub(super) struct Places(BTreeMap<Identity, usize>);

/// An element to be sorted.
struct Placed {
    element: Value,
    /// Its index before the patch; `None` if it is new.
    before: Option<usize>,
    /// Its index in the patch.
    named: Option<usize>,
}

/// Sorts a merged list. `named` are the elements in the patch, in its order; `original` has the indices before the
/// patch.
pub(super) fn arrange(
    elements: &mut Vec<Value>,
    by: ElementIdentity,
    named: &[Identity],
    original: &Places,
) -> Result<(), Refusal> {
    let requested = Places::number(named.iter().cloned());
    let identities: Vec<_> =
        elements.iter().map(|element| by.identified(element)).collect::<Result<_, _>>()?;
    let placed = elements.drain(..).zip(identities).map(|(element, identity)| Placed {
        element,
        before: original.0.get(&identity).copied(),
        named: requested.0.get(&identity).copied(),
    });
    let (mut patched, others): (Vec<_>, VecDeque<_>) = partition(placed);
    patched.sort_by_key(|placed| placed.named);
    *elements = zip_in_order(others, patched.into());
    Ok(())
}

/// Returns an error if the list in a patch contradicts its `$setElementOrder`.
pub(super) fn check(patch: &[Value], order: &[Value], by: ElementIdentity) -> Result<(), Refusal> {
    let mut wanted = order.iter().filter_map(|element| by.identity(element));
    for element in patch.iter().filter(|element| element.get(PATCH).is_none()) {
        let identity = by.identified(element)?;
        if !wanted.any(|next| next == identity) {
            let (patch, order) = (list_as_go_prints(patch), list_as_go_prints(order));
            return Err(Refusal::server_error(format!(
                "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n"
            )));
        }
    }
    Ok(())
}

fn partition(placed: impl Iterator<Item = Placed>) -> (Vec<Placed>, VecDeque<Placed>) {
    let (mut patched, mut others) = (Vec::new(), VecDeque::new());
    for one in placed {
        if one.named.is_some() {
            patched.push(one);
        } else {
            others.push_back(one);
        }
    }
    (patched, others)
}

fn zip_in_order(mut others: VecDeque<Placed>, mut patched: VecDeque<Placed>) -> Vec<Value> {
    let mut ordered = Vec::with_capacity(others.len() + patched.len());
    while let (Some(other), Some(named)) = (others.front(), patched.front()) {
        let stood_before = matches!((other.before, named.before), (Some(left), Some(right)) if left < right);
        let row = if stood_before { &mut others } else { &mut patched };
        ordered.extend(row.pop_front().map(|placed| placed.element));
    }
    ordered.extend(others.into_iter().chain(patched).map(|placed| placed.element));
    ordered
}

impl Places {
    /// The indices of a list's elements; of duplicates the first.
    pub(super) fn of(elements: &[Value], by: ElementIdentity) -> Self {
        Self::number(elements.iter().filter_map(|element| by.identity(element)))
    }

    fn number(identities: impl Iterator<Item = Identity>) -> Self {
        let mut places = BTreeMap::new();
        for (place, identity) in identities.enumerate() {
            places.entry(identity).or_insert(place);
        }
        Self(places)
    }
}
