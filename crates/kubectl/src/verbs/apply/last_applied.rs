//! The last-applied annotation of client-side apply (K1.2).

use gantry_json::Value;

use crate::field::{object_mut, text};
use crate::manifests::ResolvedManifest;
use crate::print::compact;
use crate::three_way::LAST_APPLIED;

/// The object without the last-applied annotation.
pub(crate) fn without_last_applied(object: &Value) -> Value {
    let mut object = object.clone();
    object_mut(&mut object, &["metadata", "annotations"]).remove(LAST_APPLIED);
    object
}

/// The object with the last-applied annotation.
pub(in crate::verbs) fn with_last_applied(object: &Value) -> Value {
    let mut object = without_last_applied(object);
    let remembered = compact(&object) + "\n";
    object_mut(&mut object, &["metadata", "annotations"]).insert(LAST_APPLIED, remembered.into());
    object
}

/// The last applied configuration; null if unknown.
pub(super) fn last_applied(live: &Value) -> Value {
    let annotation = live["metadata"]["annotations"].get(LAST_APPLIED).and_then(Value::as_str);
    annotation.and_then(|text| gantry_json::from_str(text).ok()).unwrap_or_default()
}

/// The error prefix when the live object cannot be read.
pub(super) fn while_reading(manifest: &ResolvedManifest) -> String {
    format!(
        "error when retrieving current configuration of:\n{}\nfrom server for: \"{}\"",
        place(manifest),
        manifest.source
    )
}

/// The error prefix when the patch is rejected.
pub(super) fn while_patching(manifest: &ResolvedManifest, patch: &Value) -> String {
    let source = &manifest.source;
    format!(
        "error when applying patch:\n{}\nto:\n{}\nfor: \"{source}\": error when patching \"{source}\"",
        compact(patch),
        place(manifest)
    )
}

fn place(manifest: &ResolvedManifest) -> String {
    let resource = &manifest.resource;
    let namespace = text(&manifest.object, "/metadata/namespace");
    let version = match resource.group.as_str() {
        "" => format!("/{}", resource.version),
        _ => resource.api_version(),
    };
    format!(
        "Resource: \"{version}, Resource={}\", GroupVersionKind: \"{version}, Kind={}\"\nName: \"{}\", Namespace: \
         \"{namespace}\"",
        resource.plural, resource.kind, manifest.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K1.2: sorted, compact, with annotations and namespace, and a newline.
    #[test]
    fn an_object_has_the_last_applied_annotation() {
        let manifest =
            json!({"kind": "X", "apiVersion": "v1", "metadata": {"name": "x", "namespace": "shop"}});
        let object = with_last_applied(&manifest);
        assert_eq!(
            object["metadata"]["annotations"][LAST_APPLIED],
            "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"annotations\":{},\"name\":\"x\",\"namespace\":\"shop\"}}\n"
        );
        assert_eq!(with_last_applied(&object), object, "the annotation does not contain itself");
        assert_eq!(last_applied(&object)["metadata"]["name"], "x");
        assert_eq!(last_applied(&json!({})), Value::Null);
    }
}
