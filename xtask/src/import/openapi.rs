//! Reads OpenAPI 3 documents: which fields are required, and how fields merge.

use std::collections::BTreeMap;

use gantry_json::Value;

use super::message_name;

/// The schemas of all documents.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    /// By message, such as `core/v1.Pod`.
    pub(super) by_message: BTreeMap<String, ObjectSchema>,
    /// The message of each group, version and kind.
    by_kind: BTreeMap<(String, String, String), String>,
}

/// The schema of one message.
#[derive(Debug)]
pub(super) struct ObjectSchema(Value);

impl Schemas {
    /// Adds the schemas of one document.
    pub(super) fn read(&mut self, text: &str) -> Result<(), String> {
        let mut document: Value = gantry_json::from_str(text).map_err(|error| error.to_string())?;
        let Value::Object(schemas) = document["components"]["schemas"].take() else { return Ok(()) };
        for (name, schema) in schemas {
            let Some(message) = message_name(&name) else { continue };
            // Messages of several groups, such as DeleteOptions, are not the kind of any of them.
            if let Some([kind]) = schema["x-kubernetes-group-version-kind"].as_array().map(Vec::as_slice) {
                let part = |name: &str| kind[name].as_str().unwrap_or_default().to_owned();
                self.by_kind.insert((part("group"), part("version"), part("kind")), message.clone());
            }
            self.by_message.entry(message).or_insert(ObjectSchema(schema));
        }
        Ok(())
    }

    /// The message of a kind.
    pub(super) fn message(&self, group: &str, version: &str, kind: &str) -> Option<&str> {
        let key = (group.to_owned(), version.to_owned(), kind.to_owned());
        self.by_kind.get(&key).map(String::as_str)
    }

    /// Whether a message is owned as a whole wherever it occurs.
    pub(super) fn is_atomic(&self, message: &str) -> bool {
        self.by_message.get(message).is_some_and(|schema| schema.0["x-kubernetes-map-type"] == "atomic")
    }
}

impl ObjectSchema {
    /// Whether a field is required.
    pub(super) fn requires(&self, field: &str) -> bool {
        self.0["required"].as_array().is_some_and(|required| required.iter().any(|name| name == field))
    }

    /// How a field merges in a strategic merge patch, in the notation of `lists.tsv`.
    pub(super) fn strategic(&self, field: &str) -> Result<String, String> {
        let property = &self.0["properties"][field];
        let strategies = property["x-kubernetes-patch-strategy"].as_str().unwrap_or_default();
        let key = property["x-kubernetes-patch-merge-key"].as_str();
        Ok(match (strategies, key) {
            ("", None) => "-".to_owned(),
            ("merge", Some(key)) => key.to_owned(),
            ("merge,retainKeys", Some(key)) => format!("{key}+retainKeys"),
            ("merge", None) => "primitives".to_owned(),
            ("retainKeys" | "replace", None) => strategies.to_owned(),
            _ => return Err(format!("{field}: no patch strategy `{strategies}` with key {key:?}")),
        })
    }

    /// How a field is owned under server-side apply, in the notation of `lists.tsv`; none if the document does not
    /// specify it.
    pub(super) fn owning(&self, field: &str) -> Result<Option<String>, String> {
        let property = &self.0["properties"][field];
        let word = |name: &str| property[name].as_str();
        Ok(match (word("x-kubernetes-list-type"), word("x-kubernetes-map-type")) {
            (None, None) => None,
            (Some("map"), None) => {
                let keys = property["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
                Some(format!("map:{}", keys.filter_map(Value::as_str).collect::<Vec<_>>().join("+")))
            }
            (Some(word @ ("set" | "atomic")), None) | (None, Some(word @ "atomic")) => Some(word.to_owned()),
            (None, Some("granular")) => Some("-".to_owned()),
            other => return Err(format!("{field}: no list or map type {other:?}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"components": {"schemas": {
        "io.k8s.api.harbour.v1.Crane": {
            "required": ["hooks"],
            "properties": {
                "hooks": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "side"],
                          "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge,retainKeys"},
                "names": {"type": "array", "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge"},
                "berth": {"x-kubernetes-map-type": "granular", "x-kubernetes-patch-strategy": "replace"},
                "odd": {"x-kubernetes-list-type": "heap", "x-kubernetes-patch-strategy": "toss"},
                "plain": {}
            },
            "x-kubernetes-group-version-kind": [{"group": "harbour.k8s.io", "version": "v1", "kind": "Crane"}]
        },
        "io.k8s.apimachinery.pkg.apis.meta.v1.Berth": {"x-kubernetes-map-type": "atomic"},
        "com.example.Unrelated": {}
    }}}"#;

    fn read() -> Schemas {
        let mut schemas = Schemas::default();
        schemas.read(DOCUMENT).unwrap();
        schemas
    }

    #[test]
    fn kinds_lead_to_messages() {
        let schemas = read();
        assert_eq!(schemas.message("harbour.k8s.io", "v1", "Crane"), Some("harbour/v1.Crane"));
        assert!(schemas.is_atomic("meta/v1.Berth") && !schemas.is_atomic("harbour/v1.Crane"));
        assert_eq!(schemas.by_message.len(), 2);
    }

    #[test]
    fn extensions_become_keywords_of_the_table() {
        let schemas = read();
        let crane = &schemas.by_message["harbour/v1.Crane"];
        let words = |field: &str| {
            (
                crane.strategic(field).unwrap(),
                crane.owning(field).unwrap().unwrap_or_else(|| "default".to_owned()),
            )
        };
        let pair = |strategic: &str, owning: &str| (strategic.to_owned(), owning.to_owned());
        assert_eq!(words("hooks"), pair("name+retainKeys", "map:name+side"));
        assert_eq!(words("names"), pair("primitives", "set"));
        assert_eq!(words("berth"), pair("replace", "-"));
        assert_eq!(words("plain"), pair("-", "default"));
        assert!(crane.requires("hooks") && !crane.requires("names"));
    }

    #[test]
    fn unknown_keywords_are_problems() {
        let schemas = read();
        let crane = &schemas.by_message["harbour/v1.Crane"];
        assert_eq!(crane.strategic("odd").unwrap_err(), "odd: no patch strategy `toss` with key None");
        assert_eq!(crane.owning("odd").unwrap_err(), r#"odd: no list or map type (Some("heap"), None)"#);
    }
}
