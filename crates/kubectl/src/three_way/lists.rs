//! Lists whose elements are identified by a key, or by their value.

use gantry_json::{Map, Value, json};

use super::{NOTHING, Shape, ThreeWayInputs, three_way};

/// A list of objects that are identified by one of their members.
pub(super) fn by_key(name: &str, key: &str, shape: Shape, forms: ThreeWayInputs<'_>, patch: &mut Map) {
    let mut changed = Vec::new();
    for element in elements(forms.modified) {
        let id = element.get(key).unwrap_or(&NOTHING);
        match with(forms.current, key, id) {
            None => changed.push(element.clone()),
            Some(current) => {
                let original = with(forms.original, key, id).unwrap_or(&NOTHING);
                let mut below = three_way(ThreeWayInputs { original, modified: element, current }, shape);
                if !below.is_empty() {
                    below.insert(key.to_owned(), id.clone());
                    changed.push(below.into());
                }
            }
        }
    }
    for element in elements(forms.original) {
        let id = element.get(key).unwrap_or(&NOTHING);
        if with(forms.modified, key, id).is_none() && with(forms.current, key, id).is_some() {
            changed.push(json!({"$patch": "delete", key: id}));
        }
    }
    if changed.is_empty() && in_order(forms, |list| ids(list, key)) {
        return;
    }
    let order: Vec<Value> = ids(forms.modified, key).into_iter().map(|id| json!({key: id})).collect();
    patch.insert(format!("$setElementOrder/{name}"), order.into());
    if !changed.is_empty() {
        patch.insert(name.to_owned(), changed.into());
    }
}

/// A list of plain values that are added.
pub(super) fn of_values(name: &str, forms: ThreeWayInputs<'_>, patch: &mut Map) {
    let (original, modified, current) =
        (elements(forms.original), elements(forms.modified), elements(forms.current));
    let added: Vec<&Value> = modified.iter().filter(|value| !current.contains(value)).collect();
    let gone: Vec<&Value> =
        original.iter().filter(|value| !modified.contains(value) && current.contains(value)).collect();
    if added.is_empty() && gone.is_empty() && in_order(forms, |list| elements(list).iter().collect()) {
        return;
    }
    patch.insert(format!("$setElementOrder/{name}"), forms.modified.clone());
    if !gone.is_empty() {
        patch.insert(format!("$deleteFromPrimitiveList/{name}"), json!(gone));
    }
    if !added.is_empty() {
        patch.insert(name.to_owned(), json!(added));
    }
}

/// Whether the written elements are in the same order in the live list, regardless of other elements.
fn in_order<'v>(forms: ThreeWayInputs<'v>, ids: impl Fn(&'v Value) -> Vec<&'v Value>) -> bool {
    let written = ids(forms.modified);
    let live: Vec<&Value> = ids(forms.current).into_iter().filter(|id| written.contains(id)).collect();
    live == written
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn ids<'v>(list: &'v Value, key: &str) -> Vec<&'v Value> {
    elements(list).iter().map(|element| element.get(key).unwrap_or(&NOTHING)).collect()
}

fn with<'v>(list: &'v Value, key: &str, id: &Value) -> Option<&'v Value> {
    elements(list).iter().find(|element| element.get(key) == Some(id))
}
