//! The operations of a kind, and the media types of their bodies.

use std::collections::BTreeMap;

use gantry_json::{Value, json};

use crate::{v2, v3};

const ONE: &str = "/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}";

/// The paths of widgets below their group version, with the methods of each.
fn paths(document: &Value) -> BTreeMap<String, Vec<&str>> {
    let paths = document["paths"].as_object().unwrap().iter();
    let of_widgets = paths.filter_map(|(path, item)| {
        let place = path.strip_prefix("/apis/shop.example.com/v1/")?;
        let methods = item
            .as_object()
            .unwrap()
            .keys()
            .map(gantry_json::SmolStr::as_str)
            .filter(|key| *key != "parameters");
        Some((place.to_owned(), methods.collect()))
    });
    of_widgets.collect()
}

/// Appendix E: a kind has the same paths as a built-in one, and those of its subresources.
#[test]
fn a_kind_has_its_paths() {
    let schema = json!({"type": "object"});
    let wanted = BTreeMap::from(
        [
            ("widgets", vec!["get"]),
            ("namespaces/{namespace}/widgets", vec!["delete", "get", "post"]),
            ("namespaces/{namespace}/widgets/{name}", vec!["delete", "get", "patch", "put"]),
            ("namespaces/{namespace}/widgets/{name}/scale", vec!["get", "patch", "put"]),
            ("namespaces/{namespace}/widgets/{name}/status", vec!["get", "patch", "put"]),
        ]
        .map(|(path, methods)| (path.to_owned(), methods)),
    );
    assert_eq!(paths(&v2(&schema)), wanted);
    assert_eq!(paths(&v3(&schema)), wanted);
}

/// Appendix E: custom kinds have no strategic merge patch and no protobuf.
#[test]
fn a_kind_is_sent_in_the_formats_that_it_has() {
    let schema = json!({"type": "object"});
    let (v2, v3) = (v2(&schema), v3(&schema));
    let (patches, plain) = (
        ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"],
        ["application/json", "application/yaml"],
    );
    let old = &v2["paths"][ONE];
    assert_eq!(old["patch"]["consumes"], json!(patches));
    assert_eq!(old["put"]["consumes"], json!(plain));
    assert_eq!(old["get"]["produces"], json!(plain));
    let new = &v3["paths"][ONE];
    let types = |content: &Value| content.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut sorted = patches;
    sorted.sort_unstable();
    assert_eq!(types(&new["patch"]["requestBody"]["content"]), sorted);
    assert_eq!(types(&new["put"]["requestBody"]["content"]), plain);
    assert_eq!(types(&new["get"]["responses"]["200"]["content"]), plain);
    assert_eq!(
        new["patch"]["requestBody"]["content"][patches[0]]["schema"]["$ref"],
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Patch"
    );
}

/// Appendix E, A1.19: every operation, also on the scale, has the group, version and kind of the custom kind, by which
/// kubectl finds its PATCH.
#[test]
fn operations_name_the_kind() {
    let document = v3(&json!({"type": "object"}));
    let kind = json!({"group": "shop.example.com", "version": "v1", "kind": "Widget"});
    for path in [ONE.to_owned(), format!("{ONE}/scale"), format!("{ONE}/status")] {
        let patch = &document["paths"][&path]["patch"];
        assert_eq!(patch["x-kubernetes-group-version-kind"], kind, "{path}");
        let parameters = patch["parameters"].as_array().unwrap();
        assert!(parameters.iter().any(|one| one["name"] == "fieldValidation"), "{path}");
    }
    let scale = &document["paths"][format!("{ONE}/scale")]["get"]["responses"]["200"]["content"];
    assert_eq!(
        scale["application/json"]["schema"]["$ref"],
        "#/components/schemas/io.k8s.api.autoscaling.v1.Scale"
    );
    assert!(document["components"]["schemas"]["io.k8s.api.autoscaling.v1.Scale"].is_object());
}

/// Operation ids contain the whole group, because many groups begin with the same word.
#[test]
fn operations_are_named_after_the_whole_group() {
    let document = v2(&json!({"type": "object"}));
    let status = &document["paths"][format!("{ONE}/status")]["get"];
    assert_eq!(status["operationId"], "readShopExampleComV1NamespacedWidgetStatus");
    assert_eq!(status["tags"], json!(["shopExampleCom_v1"]));
    let roles = &document["paths"]["/apis/rbac.authorization.k8s.io/v1/clusterroles"]["get"];
    assert_eq!(roles["operationId"], "listRbacAuthorizationV1ClusterRole");
    assert_eq!(roles["tags"], json!(["rbacAuthorization_v1"]));
}
