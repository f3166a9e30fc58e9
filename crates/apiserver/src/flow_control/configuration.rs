//! The configuration of flow control, parsed from FlowSchemas and PriorityLevelConfigurations.
//!
//! Objects that are invalid or refer to a missing level are ignored; missing mandatory objects are added.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_json::Value;
use gantry_registry::flow_control::{
    CATCH_ALL, EXEMPT, FLOW_SCHEMA, GROUP, mandatory_levels, mandatory_schemas,
};
use gantry_schema::kinds::Kind;

use crate::metadata::Metadata;
use crate::store_cache::Projection;

/// The stored FlowSchemas and PriorityLevelConfigurations by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowObjects {
    pub(super) schemas: BTreeMap<String, Arc<Value>>,
    pub(super) levels: BTreeMap<String, Arc<Value>>,
}

/// The parsed configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowConfiguration {
    /// In the order in which they are matched; the last one is the catch-all.
    pub(super) schemas: Vec<FlowSchema>,
    pub(super) levels: BTreeMap<String, PriorityLevel>,
}

/// A parsed FlowSchema.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowSchema {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) precedence: i64,
    pub(super) level: String,
    pub(super) distinguisher: Distinguisher,
    pub(super) rules: Vec<Rule>,
}

/// The property that distinguishes the flows of a FlowSchema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distinguisher {
    /// All requests are one flow.
    None,
    User,
    Namespace,
}

/// Requests of any of the subjects for any of the resources or paths.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) subjects: Vec<Subject>,
    pub(super) resources: Vec<ResourceRule>,
    pub(super) paths: Vec<PathRule>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subject {
    /// The name may be `*`.
    User(String),
    /// The name may be `*`.
    Group(String),
    /// The name may be `*`.
    ServiceAccount { namespace: String, name: String },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResourceRule {
    pub(super) verbs: Vec<String>,
    pub(super) groups: Vec<String>,
    /// Resources, or `resource/subresource`.
    pub(super) resources: Vec<String>,
    pub(super) namespaces: Vec<String>,
    /// Whether requests without a namespace match.
    pub(super) is_cluster_scoped: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathRule {
    pub(super) verbs: Vec<String>,
    pub(super) paths: Vec<String>,
}

/// A parsed PriorityLevelConfiguration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PriorityLevel {
    pub(super) uid: String,
    /// `None` for the exempt level.
    pub(super) limits: Option<LevelLimits>,
}

/// The limits of a priority level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LevelLimits {
    pub(super) shares: u32,
    pub(super) lendable_percent: u32,
    /// `None` for no limit.
    pub(super) borrowing_percent: Option<u32>,
    /// `None` if requests beyond the limit are rejected instead of queued.
    pub(super) queuing: Option<Queuing>,
}

/// The queues of a priority level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queuing {
    pub(super) queues: u32,
    pub(super) hand_size: u32,
    pub(super) queue_length_limit: u32,
}

impl Projection for FlowObjects {
    fn includes(kind: &Kind) -> bool {
        kind.group == GROUP
    }

    fn add(&mut self, object: &Value) {
        let name = Metadata::of(object).name().to_owned();
        self.of_kind(object).insert(name, Arc::new(object.clone()));
    }

    fn remove(&mut self, object: &Value) {
        let name = Metadata::of(object).name().to_owned();
        self.of_kind(object).remove(&name);
    }
}

impl FlowObjects {
    fn of_kind(&mut self, object: &Value) -> &mut BTreeMap<String, Arc<Value>> {
        if object["kind"] == FLOW_SCHEMA { &mut self.schemas } else { &mut self.levels }
    }

    /// Parses the objects.
    pub(super) fn parse(&self) -> FlowConfiguration {
        let mut levels: BTreeMap<_, _> = self
            .levels
            .iter()
            .filter_map(|(name, object)| Some((name.clone(), PriorityLevel::parse(name, object)?)))
            .collect();
        for object in mandatory_levels() {
            let name = Metadata::of(&object).name().to_owned();
            if !levels.contains_key(&name)
                && let Some(level) = PriorityLevel::parse(&name, &object)
            {
                levels.insert(name, level);
            }
        }
        let stored = self.schemas.values().map(|object| FlowSchema::parse(object));
        let mut schemas: Vec<_> =
            stored.filter(|schema: &FlowSchema| levels.contains_key(&schema.level)).collect();
        for object in mandatory_schemas() {
            let mandatory = FlowSchema::parse(&object);
            if !schemas.iter().any(|schema| schema.name == mandatory.name) {
                schemas.push(mandatory);
            }
        }
        // The catch-all matches requests that no other schema matches, whatever the precedence of others.
        schemas.sort_by(|one, other| {
            let key = |schema: &FlowSchema| (schema.name == CATCH_ALL, schema.precedence);
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        FlowConfiguration { schemas, levels }
    }
}

impl FlowSchema {
    fn parse(object: &Value) -> Self {
        let (metadata, spec) = (Metadata::of(object), &object["spec"]);
        Self {
            name: metadata.name().to_owned(),
            uid: metadata.uid().to_owned(),
            precedence: spec["matchingPrecedence"].as_i64().unwrap_or(1000),
            level: text(&spec["priorityLevelConfiguration"]["name"]),
            distinguisher: match spec["distinguisherMethod"]["type"].as_str() {
                Some("ByUser") => Distinguisher::User,
                Some("ByNamespace") => Distinguisher::Namespace,
                _ => Distinguisher::None,
            },
            rules: items(&spec["rules"]).iter().map(Rule::parse).collect(),
        }
    }
}

impl Rule {
    fn parse(rule: &Value) -> Self {
        let resources = items(&rule["resourceRules"]).iter().map(|rule| ResourceRule {
            verbs: texts(&rule["verbs"]),
            groups: texts(&rule["apiGroups"]),
            resources: texts(&rule["resources"]),
            namespaces: texts(&rule["namespaces"]),
            is_cluster_scoped: rule["clusterScope"] == true,
        });
        let paths = items(&rule["nonResourceRules"])
            .iter()
            .map(|rule| PathRule { verbs: texts(&rule["verbs"]), paths: texts(&rule["nonResourceURLs"]) });
        Self {
            subjects: items(&rule["subjects"]).iter().filter_map(Subject::parse).collect(),
            resources: resources.collect(),
            paths: paths.collect(),
        }
    }
}

impl Subject {
    fn parse(subject: &Value) -> Option<Self> {
        match subject["kind"].as_str()? {
            "User" => Some(Self::User(text(&subject["user"]["name"]))),
            "Group" => Some(Self::Group(text(&subject["group"]["name"]))),
            "ServiceAccount" => {
                let account = &subject["serviceAccount"];
                Some(Self::ServiceAccount {
                    namespace: text(&account["namespace"]),
                    name: text(&account["name"]),
                })
            }
            _ => None,
        }
    }
}

impl PriorityLevel {
    /// Parses a level; `None` if its spec is inconsistent.
    fn parse(name: &str, object: &Value) -> Option<Self> {
        let (uid, spec) = (Metadata::of(object).uid().to_owned(), &object["spec"]);
        let limits = match spec["type"].as_str()? {
            "Exempt" if name == EXEMPT => None,
            "Limited" if name != EXEMPT => Some(LevelLimits::parse(&spec["limited"])?),
            _ => return None,
        };
        Some(Self { uid, limits })
    }
}

impl LevelLimits {
    fn parse(limited: &Value) -> Option<Self> {
        let response = &limited["limitResponse"];
        let queuing = match response["type"].as_str()? {
            "Queue" => Some(Queuing {
                queues: number(&response["queuing"]["queues"]).filter(|queues| *queues > 0)?,
                hand_size: number(&response["queuing"]["handSize"]).filter(|size| *size > 0)?,
                queue_length_limit: number(&response["queuing"]["queueLengthLimit"])?,
            }),
            _ => None,
        };
        Some(Self {
            shares: number(&limited["nominalConcurrencyShares"]).unwrap_or(0),
            lendable_percent: number(&limited["lendablePercent"]).unwrap_or(0).min(100),
            borrowing_percent: number(&limited["borrowingLimitPercent"]),
            queuing,
        })
    }
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(list: &Value) -> Vec<String> {
    items(list).iter().map(text).collect()
}

fn number(value: &Value) -> Option<u32> {
    value.as_i64().and_then(|number| u32::try_from(number).ok())
}
