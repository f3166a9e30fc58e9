//! An operation at a path, in either version of OpenAPI.

use gantry_json::{Value, json};

use super::Dialect;
use super::schemas::Schemas;
use gantry_schema::kinds::{Nature, Verb};
use gantry_schema::schema::schema;

/// The actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    List,
    Create,
    Replace,
    Patch,
    Delete,
    DeleteCollection,
}

/// An operation at a path.
pub(super) struct Operation {
    pub(super) action: Action,
    pub(super) id: String,
    pub(super) tag: String,
    /// Group, version and kind.
    pub(super) kind: Value,
    /// A reference to the schema of the response and, for writes, of the body.
    pub(super) object: Value,
    pub(super) media: &'static Media,
}

/// The media types of bodies and responses of a kind.
#[derive(Debug)]
pub(super) struct Media {
    sent: &'static [&'static str],
    patches: &'static [&'static str],
    returned: &'static [&'static str],
}

const BUILT_IN: Media = Media {
    sent: &["*/*"],
    patches: &[
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ],
    returned: &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"],
};

/// Custom kinds have neither protobuf nor strategic merge patches.
const CUSTOM: Media = Media {
    sent: &["application/json", "application/yaml"],
    patches: &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"],
    returned: &["application/json", "application/yaml"],
};

/// Parameters: name and type.
type Parameters = &'static [(&'static str, &'static str)];

const OF_LISTS: Parameters = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("pretty", "string"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
const OF_WRITES: Parameters =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("pretty", "string")];
const OF_PATCHES: Parameters = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
    ("force", "boolean"),
    ("pretty", "string"),
];
const OF_DELETES: Parameters = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("orphanDependents", "boolean"),
    ("pretty", "string"),
    ("propagationPolicy", "string"),
];

impl Action {
    pub(super) fn verb(self) -> Verb {
        match self {
            Self::Get => Verb::Get,
            Self::List => Verb::List,
            Self::Create => Verb::Create,
            Self::Replace => Verb::Update,
            Self::Patch => Verb::Patch,
            Self::Delete => Verb::Delete,
            Self::DeleteCollection => Verb::DeleteCollection,
        }
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Get | Self::List => "get",
            Self::Create => "post",
            Self::Replace => "put",
            Self::Patch => "patch",
            Self::Delete | Self::DeleteCollection => "delete",
        }
    }

    /// The first word of the operation id.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Get => "read",
            Self::List => "list",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deleteCollection",
        }
    }

    /// The value of `x-kubernetes-action`.
    fn kubernetes(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Create => "post",
            Self::Replace => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    fn parameters(self) -> Parameters {
        match self {
            Self::Get => &[("pretty", "string")],
            Self::List => OF_LISTS,
            Self::Create | Self::Replace => OF_WRITES,
            Self::Patch => OF_PATCHES,
            Self::Delete | Self::DeleteCollection => OF_DELETES,
        }
    }
}

impl Media {
    pub(super) fn of(nature: &Nature) -> &'static Self {
        match nature {
            Nature::BuiltIn(_) => &BUILT_IN,
            Nature::Custom(_) => &CUSTOM,
        }
    }
}

impl Operation {
    pub(super) fn render(&self, schemas: &mut Schemas) -> Value {
        let body = self.body(schemas);
        let mut operation = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "responses": self.responses(schemas.dialect),
            "x-kubernetes-action": self.action.kubernetes(),
            "x-kubernetes-group-version-kind": self.kind,
        });
        let parameters = self.action.parameters().iter();
        let mut parameters: Vec<_> =
            parameters.map(|(name, kind)| parameter(name, kind, schemas.dialect)).collect();
        match (schemas.dialect, body) {
            (Dialect::V2, body) => {
                operation["consumes"] = json!(self.consumes());
                operation["produces"] = json!(self.media.returned);
                parameters.extend(body.map(|schema| {
                    let required = !self.deletes();
                    json!({"name": "body", "in": "body", "required": required, "schema": schema})
                }));
            }
            (Dialect::V3, Some(schema)) => {
                let types = self.consumes().iter();
                let content: gantry_json::Map =
                    types.map(|media| ((*media).to_owned(), json!({"schema": schema}))).collect();
                operation["requestBody"] = json!({"content": content, "required": !self.deletes()});
            }
            (Dialect::V3, None) => {}
        }
        operation["parameters"] = json!(parameters);
        operation
    }

    fn consumes(&self) -> &'static [&'static str] {
        if self.action == Action::Patch { self.media.patches } else { self.media.sent }
    }

    fn deletes(&self) -> bool {
        matches!(self.action, Action::Delete | Action::DeleteCollection)
    }

    /// The body parameter, if there is one.
    fn body(&self, schemas: &mut Schemas) -> Option<Value> {
        match self.action {
            Action::Get | Action::List => None,
            Action::Create | Action::Replace => Some(self.object.clone()),
            Action::Patch => Some(schemas.patch()),
            Action::Delete | Action::DeleteCollection => {
                schema().find("meta/v1.DeleteOptions").map(|id| schemas.message(id))
            }
        }
    }

    fn responses(&self, dialect: Dialect) -> Value {
        let codes: &[(&str, &str)] = match self.action {
            Action::Get | Action::List | Action::DeleteCollection => &[("200", "OK")],
            Action::Create => &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
            Action::Replace | Action::Patch => &[("200", "OK"), ("201", "Created")],
            Action::Delete => &[("200", "OK"), ("202", "Accepted")],
        };
        let responses = codes.iter().map(|(code, word)| {
            let response = match dialect {
                Dialect::V2 => json!({"description": word, "schema": self.object}),
                Dialect::V3 => {
                    let content: gantry_json::Map = self
                        .media
                        .returned
                        .iter()
                        .map(|media| ((*media).to_owned(), json!({"schema": self.object})))
                        .collect();
                    json!({"description": word, "content": content})
                }
            };
            ((*code).to_owned(), response)
        });
        Value::Object(responses.collect())
    }
}

fn parameter(name: &str, kind: &str, dialect: Dialect) -> Value {
    match dialect {
        Dialect::V2 => json!({"name": name, "in": "query", "type": kind, "uniqueItems": true}),
        Dialect::V3 => json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}}),
    }
}
