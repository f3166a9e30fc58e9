//! The files of volumes that show objects: ConfigMaps, Secrets, projections, the downward API.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;

use crate::downward_api::{PodFacts, field_value, resource_value};
use crate::environment::{SourceObjects, container_named};
use crate::trust_bundles::trust_anchors;

/// The default mode of files.
const MODE: i32 = 0o644;

/// A file of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VolumeFile {
    pub(crate) content: Vec<u8>,
    pub(crate) mode: i32,
}

/// The files of a volume by their relative path.
pub(crate) type Payload = BTreeMap<String, VolumeFile>;

/// The sources of the files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadInputs<'a> {
    pub(crate) pod: &'a core::Pod,
    pub(crate) sources: &'a SourceObjects,
    /// Tokens by their audience and lifetime.
    pub(crate) tokens: &'a BTreeMap<TokenKey, String>,
    pub(crate) facts: &'a PodFacts,
}

/// The key that distinguishes the tokens of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TokenKey {
    pub(crate) audience: String,
    pub(crate) seconds: i64,
}

impl TokenKey {
    /// Returns the key of a projected token.
    pub(crate) fn of(projection: &core::ServiceAccountTokenProjection) -> Self {
        Self {
            audience: projection.audience.clone().unwrap_or_default(),
            seconds: projection.expiration_seconds.unwrap_or(3600),
        }
    }
}

/// The keys of a ConfigMap or Secret that a volume shows.
#[derive(Clone, Copy)]
struct SelectedKeys<'a> {
    /// All keys if `None`.
    items: Option<&'a [core::KeyToPath]>,
    /// Whether the object and its keys may be missing.
    optional: Option<bool>,
    /// The mode of files whose item has none.
    mode: i32,
}

/// Returns the files of a volume; `None` if it does not show objects.
pub(crate) fn payload(volume: &core::Volume, inputs: PayloadInputs<'_>) -> Option<Result<Payload, String>> {
    if let Some(source) = &volume.config_map {
        let mode = source.default_mode.unwrap_or(MODE);
        let keys = SelectedKeys { items: source.items.as_deref(), optional: source.optional, mode };
        return Some(config_map(&source.name, keys, inputs));
    }
    if let Some(source) = &volume.secret {
        let name = source.secret_name.as_deref().unwrap_or_default();
        let mode = source.default_mode.unwrap_or(MODE);
        let keys = SelectedKeys { items: source.items.as_deref(), optional: source.optional, mode };
        return Some(secret(name, keys, inputs));
    }
    if let Some(source) = &volume.downward_api {
        return Some(downward(source.items.as_deref(), source.default_mode.unwrap_or(MODE), inputs));
    }
    let all = volume.projected.as_ref()?;
    let mode = all.default_mode.unwrap_or(MODE);
    let mut files = Payload::new();
    for source in all.sources.iter().flatten() {
        match projection(source, mode, inputs) {
            Ok(others) => files.extend(others),
            Err(problem) => return Some(Err(problem)),
        }
    }
    Some(Ok(files))
}

fn projection(
    source: &core::VolumeProjection,
    mode: i32,
    inputs: PayloadInputs<'_>,
) -> Result<Payload, String> {
    if let Some(source) = &source.config_map {
        let keys = SelectedKeys { items: source.items.as_deref(), optional: source.optional, mode };
        return config_map(&source.name, keys, inputs);
    }
    if let Some(source) = &source.secret {
        let keys = SelectedKeys { items: source.items.as_deref(), optional: source.optional, mode };
        return secret(&source.name, keys, inputs);
    }
    if let Some(source) = &source.downward_api {
        return downward(source.items.as_deref(), mode, inputs);
    }
    if let Some(source) = &source.cluster_trust_bundle {
        let content = trust_anchors(source, &inputs.sources.trust_bundles)?.into_bytes();
        return Ok(Payload::from([(source.path.clone(), VolumeFile { content, mode })]));
    }
    let Some(token) = &source.service_account_token else { return Ok(Payload::new()) };
    let content = inputs.tokens.get(&TokenKey::of(token)).ok_or("failed to fetch token")?;
    // A container that runs as another user reads its own token.
    let is_private = inputs.pod.spec.as_ref().is_some_and(|spec| {
        spec.security_context.as_ref().is_none_or(|context| context.run_as_user.is_none())
    });
    let mode = if is_private { mode } else { 0o600 };
    Ok(Payload::from([(token.path.clone(), VolumeFile { content: content.clone().into_bytes(), mode })]))
}

fn config_map(name: &str, keys: SelectedKeys<'_>, inputs: PayloadInputs<'_>) -> Result<Payload, String> {
    let Some(map) = inputs.sources.config_maps.get(name) else {
        return keys.missing(format!("configmap \"{name}\" not found"));
    };
    let text = map.data.iter().flatten().map(|(key, value)| (key.clone(), value.clone().into_bytes()));
    let binary = map.binary_data.iter().flatten().map(|(key, value)| (key.clone(), value.0.clone()));
    keys.select(&text.chain(binary).collect(), |key| {
        format!("configmap references non-existent config key: {key}")
    })
}

fn secret(name: &str, keys: SelectedKeys<'_>, inputs: PayloadInputs<'_>) -> Result<Payload, String> {
    let Some(secret) = inputs.sources.secrets.get(name) else {
        return keys.missing(format!("secret \"{name}\" not found"));
    };
    let data = secret.data.iter().flatten().map(|(key, value)| (key.clone(), value.0.clone()));
    keys.select(&data.collect(), |key| format!("references non-existent secret key: {key}"))
}

impl SelectedKeys<'_> {
    /// The files of an object that does not exist: none if it is optional, otherwise an error.
    fn missing(self, problem: String) -> Result<Payload, String> {
        if self.optional == Some(true) { Ok(Payload::new()) } else { Err(problem) }
    }

    /// Returns the selected keys as files; all keys without a selection.
    fn select(
        self,
        data: &BTreeMap<String, Vec<u8>>,
        no_key: impl Fn(&str) -> String,
    ) -> Result<Payload, String> {
        let file = |content: &Vec<u8>, mode| VolumeFile { content: content.clone(), mode };
        let Some(items) = self.items else {
            return Ok(data.iter().map(|(key, content)| (key.clone(), file(content, self.mode))).collect());
        };
        let mut files = Payload::new();
        for item in items {
            match data.get(&item.key) {
                Some(content) => {
                    files.insert(item.path.clone(), file(content, item.mode.unwrap_or(self.mode)));
                }
                None if self.optional == Some(true) => {}
                None => return Err(no_key(&item.key)),
            }
        }
        Ok(files)
    }
}

fn downward(
    items: Option<&[core::DownwardAPIVolumeFile]>,
    mode: i32,
    inputs: PayloadInputs<'_>,
) -> Result<Payload, String> {
    let mut files = Payload::new();
    for item in items.into_iter().flatten() {
        let content = match (&item.field_ref, &item.resource_field_ref) {
            (Some(field), _) => field_value(&field.field_path, inputs.pod, inputs.facts)?,
            (None, Some(selector)) => {
                let name = selector.container_name.as_deref().unwrap_or_default();
                let container = container_named(inputs.pod, name);
                let container = container.ok_or_else(|| format!("container {name} not found"))?;
                resource_value(selector, &container, inputs.facts)?
            }
            (None, None) => String::new(),
        };
        let mode = item.mode.unwrap_or(mode);
        files.insert(item.path.clone(), VolumeFile { content: content.into_bytes(), mode });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn files(volume: Value) -> Result<Vec<String>, String> {
        let pod: core::Pod =
            gantry_json::from_value(json!({"metadata": {"name": "web"}, "spec": {"containers": []}}))
                .unwrap();
        let map: core::ConfigMap =
            gantry_json::from_value(json!({"data": {"a": "1"}, "binaryData": {"b": "Mg=="}})).unwrap();
        let sources = SourceObjects {
            config_maps: BTreeMap::from([("c".to_owned(), map)]),
            ..SourceObjects::default()
        };
        let token = TokenKey { audience: String::new(), seconds: 3607 };
        let tokens = BTreeMap::from([(token, "t".to_owned())]);
        let facts = PodFacts::default();
        let inputs = PayloadInputs { pod: &pod, sources: &sources, tokens: &tokens, facts: &facts };
        let volume: core::Volume = gantry_json::from_value(volume).unwrap();
        let shown = |(path, file): (String, VolumeFile)| {
            format!("{path} {:o} {}", file.mode, String::from_utf8(file.content).unwrap())
        };
        Ok(payload(&volume, inputs).unwrap()?.into_iter().map(shown).collect())
    }

    #[test]
    fn a_config_map_is_a_file_per_key() {
        let all = files(json!({"name": "v", "configMap": {"name": "c", "defaultMode": 0o400}}));
        assert_eq!(all, Ok(vec!["a 400 1".to_owned(), "b 400 2".to_owned()]));
        let some =
            files(json!({"name": "v", "configMap": {"name": "c", "items": [{"key": "a", "path": "x/y"}]}}));
        assert_eq!(some, Ok(vec!["x/y 644 1".to_owned()]));
        let none =
            files(json!({"name": "v", "configMap": {"name": "c", "items": [{"key": "n", "path": "x"}]}}));
        assert_eq!(none, Err("configmap references non-existent config key: n".to_owned()));
    }

    #[test]
    fn projections_are_merged() {
        let all = files(json!({"name": "v", "projected": {"sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"configMap": {"name": "c", "items": [{"key": "a", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {"secret": {"name": "no", "optional": true}},
        ]}}));
        assert_eq!(
            all,
            Ok(vec!["ca.crt 644 1".to_owned(), "name 644 web".to_owned(), "token 644 t".to_owned()])
        );
    }
}
