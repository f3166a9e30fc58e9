//! A ClusterRole: its rules, and the selectors of the roles whose rules it aggregates.

use k8s_openapi::api::rbac::v1 as wire;

use crate::{InvalidSelector, Labels, Name, ParseError, ResourceVersion, Selector, Uid};

/// A ClusterRole.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterRole {
    /// Its name.
    pub name: Name,
    /// Its identity.
    pub uid: Uid,
    /// The version that was read.
    pub resource_version: ResourceVersion,
    /// `metadata.labels`.
    pub labels: Labels,
    /// The permissions.
    pub rules: Vec<PolicyRule>,
    /// The selectors of the roles whose rules it copies; `None` if it has rules of its own.
    pub aggregates: Option<Vec<Result<Selector, InvalidSelector>>>,
}

/// One rule of a role. Lists that are empty and lists that are absent are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyRule {
    /// The allowed verbs.
    pub verbs: Vec<String>,
    /// The API groups.
    pub api_groups: Vec<String>,
    /// The resources.
    pub resources: Vec<String>,
    /// The names of the objects; all objects if it is empty.
    pub resource_names: Vec<String>,
    /// The allowed paths that are not resources.
    pub non_resource_urls: Vec<String>,
}

impl ClusterRole {
    /// Parses a ClusterRole.
    pub fn parse(role: wire::ClusterRole) -> Result<Self, ParseError> {
        let selectors = role.aggregation_rule.map(|rule| rule.cluster_role_selectors.unwrap_or_default());
        Ok(Self {
            name: ParseError::unless_set(role.metadata.name, "metadata.name")?.into(),
            uid: ParseError::unless_set(role.metadata.uid, "metadata.uid")?.into(),
            resource_version: role.metadata.resource_version.unwrap_or_default().into(),
            labels: role.metadata.labels.unwrap_or_default(),
            rules: role.rules.into_iter().flatten().map(PolicyRule::parse).collect(),
            aggregates: selectors.map(|all| all.into_iter().map(Selector::parse).collect()),
        })
    }
}

impl PolicyRule {
    /// Parses a rule.
    pub fn parse(rule: wire::PolicyRule) -> Self {
        Self {
            verbs: rule.verbs,
            api_groups: rule.api_groups.unwrap_or_default(),
            resources: rule.resources.unwrap_or_default(),
            resource_names: rule.resource_names.unwrap_or_default(),
            non_resource_urls: rule.non_resource_urls.unwrap_or_default(),
        }
    }

    /// The rule in its wire format.
    pub fn render(&self) -> wire::PolicyRule {
        let unless_empty = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
        wire::PolicyRule {
            verbs: self.verbs.clone(),
            api_groups: unless_empty(&self.api_groups),
            resources: unless_empty(&self.resources),
            resource_names: unless_empty(&self.resource_names),
            non_resource_urls: unless_empty(&self.non_resource_urls),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_encoded_without_empty_lists() {
        let wire = wire::PolicyRule {
            verbs: vec!["get".to_owned()],
            api_groups: Some(vec![String::new()]),
            resources: Some(vec!["pods".to_owned()]),
            resource_names: Some(Vec::new()),
            non_resource_urls: None,
        };
        let rendered = PolicyRule::parse(wire.clone()).render();
        assert_eq!(rendered, wire::PolicyRule { resource_names: None, ..wire });
    }
}
