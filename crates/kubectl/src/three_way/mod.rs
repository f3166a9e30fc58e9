//! The three-way merge patch of client-side apply (K1.3).
//!
//! Compares the last applied configuration, the new configuration and the live object. Fields that were applied and are
//! no longer configured are deleted, configured fields that differ are set, all others are not changed.

mod lists;

use gantry_json::{Map, SmolStr, Value, json};
use gantry_schema::kinds::kinds;
use gantry_schema::schema::{Field, MessageId, StrategicMerge, Type, schema};

/// The annotation in which the last written form is kept.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The three forms of one object, or of one part of it.
#[derive(Clone, Copy)]
pub(crate) struct ThreeWayInputs<'v> {
    /// As it was written last time.
    pub(crate) original: &'v Value,
    /// As it is written now.
    pub(crate) modified: &'v Value,
    /// As it is live.
    pub(crate) current: &'v Value,
}

/// The known shape of an object, which decides how lists merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A message of the schema.
    Message(MessageId),
    /// A map in such a message.
    Map,
    /// An object of a kind that is not built in, or a part of one: it is merged as JSON.
    Foreign,
}

static NOTHING: Value = Value::Null;

/// The shape of objects of a kind; foreign for kinds that are not built in.
pub(crate) fn shape_of(api_version: &str, kind: &str) -> Shape {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let message = kinds().kind(group, version, kind).and_then(|kind| kind.nature.message());
    message.map_or(Shape::Foreign, Shape::Message)
}

/// The patch; empty if there is nothing to do.
pub(crate) fn three_way(forms: ThreeWayInputs<'_>, shape: Shape) -> Map {
    let mut patch = Map::new();
    let empty = Map::new();
    let (modified, original) =
        (forms.modified.as_object().unwrap_or(&empty), forms.original.as_object().unwrap_or(&empty));
    for (key, value) in modified {
        set(key, value, forms, shape, &mut patch);
    }
    for key in original.keys().filter(|key| !modified.contains_key(key)) {
        // Even if it is not live: the server may have dropped it.
        patch.insert(key.clone(), Value::Null);
    }
    patch
}

/// The patch that turns one object into another.
pub(crate) fn two_way(before: &Value, after: &Value, shape: Shape) -> Map {
    three_way(ThreeWayInputs { original: before, modified: after, current: before }, shape)
}

fn set(key: &str, value: &Value, forms: ThreeWayInputs<'_>, shape: Shape, patch: &mut Map) {
    if shape == Shape::Foreign && value.is_null() {
        // A null in a JSON merge patch removes the live value; if it was written before, that was done then.
        if forms.original.get(key) != Some(&NOTHING) {
            patch.insert(key.to_owned(), Value::Null);
        }
        return;
    }
    let Some(live) = forms.current.get(key) else {
        patch.insert(key.to_owned(), value.clone());
        return;
    };
    let inner = ThreeWayInputs {
        original: forms.original.get(key).unwrap_or(&NOTHING),
        modified: value,
        current: live,
    };
    let field = shape.field(key);
    match (value, live) {
        (Value::Object(members), Value::Object(_)) => {
            let mut below = three_way(inner, shape.below(field));
            if below.is_empty() {
                return;
            }
            match field.map(|field| field.merging.strategic) {
                Some(StrategicMerge::RetainKeys) => {
                    let mut kept: Vec<&SmolStr> = members.keys().collect();
                    kept.sort();
                    below.insert("$retainKeys", json!(kept));
                }
                Some(StrategicMerge::Replace) => {
                    below.clone_from(members);
                    below.insert("$patch", "replace".into());
                }
                _ => {}
            }
            patch.insert(key.to_owned(), below.into());
        }
        (Value::Array(_), Value::Array(_)) => match field.map(|field| (field.merging.strategic, &field.kind))
        {
            Some((StrategicMerge::ByKey { key: merge_key, .. }, Type::List(element))) => {
                lists::by_key(key, merge_key, Shape::of(element), inner, patch);
            }
            Some((StrategicMerge::Primitives, _)) => lists::of_values(key, inner, patch),
            _ if value != live => {
                patch.insert(key.to_owned(), value.clone());
            }
            _ => {}
        },
        _ if value != live => {
            patch.insert(key.to_owned(), value.clone());
        }
        _ => {}
    }
}

impl Shape {
    fn of(kind: &Type) -> Self {
        match kind {
            Type::Message(id) => Self::Message(*id),
            _ => Self::Map,
        }
    }

    /// The shape of the content of a field.
    fn below(self, field: Option<&Field>) -> Self {
        match (self, field) {
            (Self::Foreign, _) => Self::Foreign,
            (_, Some(field)) => Self::of(&field.kind),
            (_, None) => Self::Map,
        }
    }

    fn field(self, key: &str) -> Option<&'static Field> {
        match self {
            Self::Message(id) => schema().field(id, key),
            Self::Map | Self::Foreign => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_patch::{self as patch, PatchKind};
    use proptest::prelude::*;

    #[expect(clippy::needless_pass_by_value, reason = "so that `json!` can stand in the call")]
    fn deployment(spec: Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec})
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that `json!` can stand in the call")]
    fn template(containers: Value) -> Value {
        deployment(json!({"template": {"spec": {"containers": containers}}}))
    }

    fn patch_of(original: &Value, modified: &Value, current: &Value) -> Value {
        three_way(ThreeWayInputs { original, modified, current }, shape_of("apps/v1", "Deployment")).into()
    }

    /// K1.3: a null in a foreign kind removes the live value once; generators write it for unknown times.
    #[test]
    fn an_unchanged_null_is_no_change() {
        let null = json!({"metadata": {"creationTimestamp": null, "labels": null}, "spec": {"a": 1}});
        let live = json!({"metadata": {"creationTimestamp": "noon", "labels": {"a": "b"}}, "spec": {"a": 1}});
        let patch_of = |original: &Value| {
            let forms = ThreeWayInputs { original, modified: &null, current: &live };
            Value::from(three_way(forms, shape_of("example.com/v1", "Boat")))
        };
        assert_eq!(patch_of(&null), json!({}));
        let before = json!({"metadata": {"creationTimestamp": null, "labels": {"a": "b"}}, "spec": {"a": 1}});
        assert_eq!(patch_of(&before), json!({"metadata": {"labels": null}}));
    }

    /// K1.3: fields that are no longer configured are deleted, fields of other writers are kept.
    #[test]
    fn only_previously_applied_fields_are_removed() {
        let patch = patch_of(
            &deployment(json!({"replicas": 3, "paused": true})),
            &deployment(json!({"minReadySeconds": 5})),
            &deployment(json!({"replicas": 7, "revisionHistoryLimit": 10})),
        );
        assert_eq!(patch, json!({"spec": {"replicas": null, "paused": null, "minReadySeconds": 5}}));
    }

    /// K1.4: replicas that were never written are not changed.
    #[test]
    fn replicas_that_were_never_configured_are_kept() {
        let written = deployment(json!({"minReadySeconds": 5}));
        let patch = patch_of(&written, &written, &deployment(json!({"replicas": 7, "minReadySeconds": 5})));
        assert_eq!(patch, json!({}));
    }

    /// K1.3: containers merge by name, and keep their order.
    #[test]
    fn containers_merge_by_name() {
        let written =
            |image: &str| template(json!([{"name": "a", "image": image}, {"name": "b", "image": "b"}]));
        let live = template(
            json!([{"name": "a", "image": "old", "tty": true}, {"name": "b", "image": "b"}, {"name": "sidecar"}]),
        );
        assert_eq!(
            patch_of(&written("old"), &written("new"), &live),
            json!({"spec": {"template": {"spec": {
                "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
                "containers": [{"name": "a", "image": "new"}]}}}})
        );
        let only_b = template(json!([{"name": "b", "image": "b"}]));
        assert_eq!(
            patch_of(&written("old"), &only_b, &live),
            json!({"spec": {"template": {"spec": {
                "$setElementOrder/containers": [{"name": "b"}],
                "containers": [{"$patch": "delete", "name": "a"}]}}}})
        );
    }

    /// K1.3: the strategy is sent with the keys to retain.
    #[test]
    fn another_strategy_drops_the_limits_of_the_last() {
        let written = deployment(json!({"strategy": {"type": "Recreate"}}));
        let live =
            deployment(json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}));
        assert_eq!(
            patch_of(&deployment(json!({})), &written, &live),
            json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}})
        );
    }

    fn any_list() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[abc]", ("[xy]", any::<bool>()), 0..3).prop_map(|containers| {
            containers
                .into_iter()
                .map(|(name, (image, tty))| {
                    let mut container = json!({"name": name, "image": image});
                    if tty {
                        container["tty"] = json!(true);
                    }
                    container
                })
                .collect()
        })
    }

    proptest! {
        /// K1.3: without other writers, the result of the patch is the configuration.
        #[test]
        fn a_patch_results_in_the_configuration(before in any_list(), after in any_list()) {
            let (before, after) = (template(before), template(after));
            let Shape::Message(message) = shape_of("apps/v1", "Deployment") else { unreachable!() };
            let patch = Value::Object(two_way(&before, &after, Shape::Message(message)));
            let patched = patch::apply(PatchKind::Strategic, &before, &message.into(), &patch).unwrap();
            prop_assert_eq!(patched, after);
        }
    }
}
