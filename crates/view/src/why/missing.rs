//! The object that a message reports as missing: a ConfigMap, a Secret, a key of either, a service account, a claim.

use gantry_json::{Value, json};

/// A missing object or key that a pod refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its kind, such as `ConfigMap`.
    pub kind: &'static str,
    /// Its name, if the message has it.
    pub name: Option<String>,
    /// The missing key, if the object itself exists.
    pub key: Option<String>,
}

/// The terms for each kind in messages of the kubelet, the API server and the scheduler.
const KINDS: [(&str, &str); 4] = [
    ("configmap", "ConfigMap"),
    ("secret", "Secret"),
    ("serviceaccount", "ServiceAccount"),
    ("persistentvolumeclaim", "PersistentVolumeClaim"),
];

/// The kubelet's messages about missing keys of volumes.
const KEYS_OF_VOLUMES: [(&str, &str); 2] = [
    ("references non-existent config key: ", "ConfigMap"),
    ("references non-existent secret key: ", "Secret"),
];

impl Missing {
    /// Parses a message.
    pub(super) fn in_message(message: &str) -> Option<Self> {
        object(message).or_else(|| key_of_env(message)).or_else(|| key_of_volume(message))
    }

    pub(super) fn json(&self) -> Value {
        json!({"kind": self.kind, "name": self.name, "key": self.key})
    }

    /// Its description, such as `key b of ConfigMap settings`.
    pub(super) fn description(&self) -> String {
        let object = match &self.name {
            Some(name) => format!("{} {name}", self.kind),
            None => format!("the {}", self.kind),
        };
        match &self.key {
            Some(key) => format!("key {key} of {object}"),
            None => object,
        }
    }
}

/// `configmap "settings" not found`
fn object(message: &str) -> Option<Missing> {
    KINDS.iter().find_map(|(term, kind)| {
        // The kubelet writes `configmap "a"`, the API server `configmaps "a"`.
        let named = |term: &str| message.split_once(&format!("{term} \"")).map(|(_, rest)| rest);
        let (name, rest) = named(term).or_else(|| named(&format!("{term}s")))?.split_once('"')?;
        let name = rest.starts_with(" not found").then(|| name.to_owned())?;
        Some(Missing { kind, name: Some(name), key: None })
    })
}

/// `couldn't find key b in ConfigMap default/settings`
fn key_of_env(message: &str) -> Option<Missing> {
    let rest = message.split_once("couldn't find key ")?.1;
    let (key, object) = rest.split_once(" in ")?;
    let (kind, name) = object.split_once(' ')?;
    let kind = KINDS.iter().find(|(_, known)| *known == kind)?.1;
    let name = name.split_whitespace().next()?;
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    Some(Missing { kind, name: Some(name.to_owned()), key: Some(key.to_owned()) })
}

/// `configmap references non-existent config key: b`
fn key_of_volume(message: &str) -> Option<Missing> {
    KEYS_OF_VOLUMES.iter().find_map(|(phrase, kind)| {
        let key = message.split_once(phrase)?.1.split_whitespace().next()?.trim_end_matches([',', ']']);
        Some(Missing { kind, name: None, key: Some(key.to_owned()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(message: &str) -> Option<String> {
        Missing::in_message(message).map(|missing| missing.description())
    }

    #[test]
    fn missing_objects_are_read_from_messages() {
        for (message, expected) in [
            ("configmap \"settings\" not found", "ConfigMap settings"),
            ("MountVolume.SetUp failed for volume \"v\" : secret \"tls\" not found", "Secret tls"),
            ("couldn't find key b in ConfigMap default/settings", "key b of ConfigMap settings"),
            ("couldn't find key b in Secret shop/tls", "key b of Secret tls"),
            (
                "MountVolume.SetUp failed for volume \"v\" : configmap references non-existent config key: b",
                "key b of the ConfigMap",
            ),
            (
                "pods \"web-\" is forbidden: error looking up service account default/nope: serviceaccount \"nope\" not found",
                "ServiceAccount nope",
            ),
            ("persistentvolumeclaim \"data\" not found", "PersistentVolumeClaim data"),
            (
                "failed to process volumes=[v]: error processing PVC default/none: failed to fetch PVC from API \
                 server: persistentvolumeclaims \"none\" not found",
                "PersistentVolumeClaim none",
            ),
            (
                "MountVolume.SetUp failed for volume \"v\" : [configmap references non-existent config key: a, \
                 references non-existent secret key: b]",
                "key a of the ConfigMap",
            ),
        ] {
            assert_eq!(describe(message).as_deref(), Some(expected), "{message}");
        }
        for other in ["", "configmap \"settings\" is too large", "image \"secret\" not found"] {
            assert_eq!(describe(other), None, "{other}");
        }
    }
}
