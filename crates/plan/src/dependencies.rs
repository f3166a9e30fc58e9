//! The objects that pods depend on. A plan from files assumes that those that are not in the files exist.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value, json};
use gantry_kubectl::Manifest;

gantry_formats::text_enum! {
    /// An object that pods depend on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum DependencyKind {
        ConfigMap = "configmap",
        Secret = "secret",
        ServiceAccount = "serviceaccount",
    }

    /// Its name in texts.
    pub(crate) fn singular(self) -> &'static str;
}

/// A kind and a name, with the keys that pods read.
pub(crate) type Dependencies = BTreeMap<(DependencyKind, String), BTreeSet<String>>;

/// Returns the dependencies of the pod templates of these objects that are not among the objects.
pub(crate) fn missing(manifests: &[Manifest]) -> Dependencies {
    let mut dependencies = Dependencies::new();
    for manifest in manifests {
        of_pod(&manifest.object["spec"]["template"]["spec"], &mut dependencies);
    }
    for manifest in manifests {
        let name = manifest.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let kind = manifest.object["kind"].as_str().and_then(DependencyKind::parse);
        if let Some(kind) = kind {
            dependencies.remove(&(kind, name));
        }
    }
    // Every namespace has it.
    dependencies.remove(&(DependencyKind::ServiceAccount, "default".to_owned()));
    dependencies
}

fn of_pod(pod: &Value, dependencies: &mut Dependencies) {
    let account = pod["serviceAccountName"].as_str();
    if let Some(name) = account {
        dependencies.entry((DependencyKind::ServiceAccount, name.to_owned())).or_default();
    }
    for field in ["containers", "initContainers"] {
        for container in items(&pod[field]) {
            for source in items(&container["envFrom"]) {
                add(dependencies, DependencyKind::ConfigMap, &source["configMapRef"], "name");
                add(dependencies, DependencyKind::Secret, &source["secretRef"], "name");
            }
            for variable in items(&container["env"]) {
                let source = &variable["valueFrom"];
                add(dependencies, DependencyKind::ConfigMap, &source["configMapKeyRef"], "name");
                add(dependencies, DependencyKind::Secret, &source["secretKeyRef"], "name");
            }
        }
    }
    for volume in items(&pod["volumes"]) {
        add(dependencies, DependencyKind::ConfigMap, &volume["configMap"], "name");
        add(dependencies, DependencyKind::Secret, &volume["secret"], "secretName");
        for source in items(&volume["projected"]["sources"]) {
            add(dependencies, DependencyKind::ConfigMap, &source["configMap"], "name");
            add(dependencies, DependencyKind::Secret, &source["secret"], "name");
        }
    }
}

fn add(dependencies: &mut Dependencies, kind: DependencyKind, reference: &Value, name: &str) {
    let Some(name) = reference[name].as_str() else { return };
    if reference["optional"] == true {
        return;
    }
    let keys = dependencies.entry((kind, name.to_owned())).or_default();
    keys.extend(reference["key"].as_str().map(str::to_owned));
    keys.extend(items(&reference["items"]).filter_map(|item| item["key"].as_str().map(str::to_owned)));
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

impl DependencyKind {
    fn parse(kind: &str) -> Option<Self> {
        match kind {
            "ConfigMap" => Some(Self::ConfigMap),
            "Secret" => Some(Self::Secret),
            "ServiceAccount" => Some(Self::ServiceAccount),
            _ => None,
        }
    }

    /// Its name in paths.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmaps",
            Self::Secret => "secrets",
            Self::ServiceAccount => "serviceaccounts",
        }
    }

    /// An object of this kind with these keys.
    pub(crate) fn object(self, name: &str, keys: &BTreeSet<String>) -> Value {
        let mut data = Map::new();
        for key in keys {
            data.insert(key.as_str(), json!(""));
        }
        match self {
            Self::ConfigMap | Self::Secret => {
                json!({"metadata": {"name": name}, "data": Value::Object(data)})
            }
            Self::ServiceAccount => json!({"metadata": {"name": name}}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(object: Value) -> Manifest {
        Manifest { source: "web.yaml".to_owned(), object }
    }

    #[test]
    fn required_objects_that_no_file_contains_are_missing() {
        let deployment = manifest(json!({"kind": "Deployment", "spec": {"template": {"spec": {
            "serviceAccountName": "deployer",
            "containers": [{"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "known"}}], "env": [
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": "password", "key": "value"}}},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "extra", "key": "b", "optional": true}}},
            ]}],
            "volumes": [{"name": "v", "configMap": {"name": "files", "items": [{"key": "a.conf", "path": "a"}]}}],
        }}}}));
        let known = manifest(json!({"kind": "ConfigMap", "metadata": {"name": "known"}}));
        let found: Vec<_> = missing(&[deployment, known])
            .into_iter()
            .map(|((kind, name), keys)| format!("{}/{name} {keys:?}", kind.singular()))
            .collect();
        let wanted =
            ["configmap/files {\"a.conf\"}", "secret/password {\"value\"}", "serviceaccount/deployer {}"];
        assert_eq!(found, wanted);
    }
}
