//! Required affinity and anti-affinity between pods.
//!
//! A *domain* is the set of nodes with the same value of a label, such as a zone; with `kubernetes.io/hostname` each node
//! is its own domain. Preferred terms are ignored.

use std::collections::BTreeSet;

use gantry_model::{Labels, Selector};
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::cluster_state::ClusterState;
use super::fit_error::NodeRejection;
use super::{Node, PodInfo};

/// The label that the API server sets on every namespace.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The labels that terms of other pods match against, and the anti-affinity that other pods have to respect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PodTerms {
    pub(super) namespace: String,
    pub(super) labels: Labels,
    pub(super) anti_affinity: Vec<AffinityTerm>,
    pub(super) deleting: bool,
}

/// A required term of pod affinity or anti-affinity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AffinityTerm {
    namespaces: Namespaces,
    /// `None` matches no pods.
    selector: Option<Selector>,
    topology_key: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Namespaces {
    Named(Vec<String>),
    Selected { named: Vec<String>, selector: Selector },
}

/// A label key and its value.
type Domain<'a> = (&'a str, &'a str);

/// The domains that matter for one pod, computed once before nodes are filtered.
#[derive(Debug, Default)]
pub(super) struct PreFilterState<'a> {
    affinity: Option<RequiredAffinity<'a>>,
    /// Domains with pods that the anti-affinity of this pod matches.
    anti_affinity_domains: BTreeSet<Domain<'a>>,
    /// Domains with pods whose anti-affinity matches this pod.
    existing_anti_affinity_domains: BTreeSet<Domain<'a>>,
}

#[derive(Debug)]
struct RequiredAffinity<'a> {
    terms: &'a [AffinityTerm],
    domains: BTreeSet<Domain<'a>>,
    /// No existing pod matches the terms but the pod itself does, so that it may be assigned to any domain.
    matches_only_itself: bool,
}

impl PodTerms {
    pub(super) fn parse(pod: &wire::Pod) -> Self {
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        let affinity = pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref());
        let anti_affinity = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
        let required = anti_affinity
            .and_then(|terms| terms.required_during_scheduling_ignored_during_execution.as_ref());
        Self {
            anti_affinity: AffinityTerm::parse_all(required, &namespace),
            namespace,
            labels: pod.metadata.labels.clone().unwrap_or_default(),
            deleting: pod.metadata.deletion_timestamp.is_some(),
        }
    }
}

impl<'a> PreFilterState<'a> {
    /// Empty if no pod declares affinity.
    pub(super) fn of(cluster: &'a ClusterState, pod: &'a PodInfo) -> Self {
        let mut state = Self::default();
        let PodInfo { terms, affinity, .. } = pod;
        if !affinity.is_empty() {
            let matches_only_itself = affinity.iter().all(|term| term.matches(terms));
            state.affinity =
                Some(RequiredAffinity { terms: affinity, domains: BTreeSet::new(), matches_only_itself });
        }
        let declares_affinity = state.affinity.is_some() || !terms.anti_affinity.is_empty();
        if declares_affinity || cluster.has_anti_affinity() {
            cluster.assigned_pods().for_each(|(existing, node)| state.add(pod, existing, node));
        }
        state
    }

    fn add(&mut self, pod: &'a PodInfo, existing: &'a PodTerms, node: &'a Node) {
        if let Some(affinity) = &mut self.affinity
            && affinity.terms.iter().all(|term| term.matches(existing))
        {
            affinity.matches_only_itself = false;
            affinity.domains.extend(affinity.terms.iter().filter_map(|term| term.domain(node)));
        }
        let matching = pod.terms.anti_affinity.iter().filter(|term| term.matches(existing));
        self.anti_affinity_domains.extend(matching.filter_map(|term| term.domain(node)));
        let matching = existing.anti_affinity.iter().filter(|term| term.matches(&pod.terms));
        self.existing_anti_affinity_domains.extend(matching.filter_map(|term| term.domain(node)));
    }

    pub(super) fn rejection(&self, node: &Node) -> Option<NodeRejection> {
        if self.affinity.as_ref().is_some_and(|affinity| !affinity.allows(node)) {
            return Some(NodeRejection::PodAffinity);
        }
        let is_in = |(key, value): &Domain| node.labels.get(*key).is_some_and(|label| label == value);
        if self.anti_affinity_domains.iter().any(is_in) {
            return Some(NodeRejection::PodAntiAffinity);
        }
        self.existing_anti_affinity_domains.iter().any(is_in).then_some(NodeRejection::ExistingAntiAffinity)
    }
}

impl RequiredAffinity<'_> {
    fn allows(&self, node: &Node) -> bool {
        self.terms.iter().all(|term| {
            term.domain(node).is_some_and(|domain| self.matches_only_itself || self.domains.contains(&domain))
        })
    }
}

impl AffinityTerm {
    /// The required terms of a pod's affinity to other pods.
    pub(super) fn parse_affinity(pod: &wire::Pod) -> Vec<Self> {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let affinity = pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref());
        let affinity = affinity.and_then(|affinity| affinity.pod_affinity.as_ref());
        let required =
            affinity.and_then(|terms| terms.required_during_scheduling_ignored_during_execution.as_ref());
        Self::parse_all(required, namespace)
    }

    fn parse_all(terms: Option<&Vec<wire::PodAffinityTerm>>, namespace: &str) -> Vec<Self> {
        terms.into_iter().flatten().map(|term| Self::parse(term, namespace)).collect()
    }

    fn parse(term: &wire::PodAffinityTerm, own_namespace: &str) -> Self {
        let named = term.namespaces.clone().unwrap_or_default();
        let namespaces = match term.namespace_selector.as_ref().and_then(parse_selector) {
            Some(selector) => Namespaces::Selected { named, selector },
            None if named.is_empty() => Namespaces::Named(vec![own_namespace.to_owned()]),
            None => Namespaces::Named(named),
        };
        let selector = term.label_selector.as_ref().and_then(parse_selector);
        Self { namespaces, selector, topology_key: term.topology_key.clone() }
    }

    fn matches(&self, pod: &PodTerms) -> bool {
        self.namespaces.contain(&pod.namespace)
            && self.selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels))
    }

    fn domain<'a>(&'a self, node: &'a Node) -> Option<Domain<'a>> {
        let (key, value) = node.labels.get_key_value(&self.topology_key)?;
        Some((key, value))
    }
}

impl Namespaces {
    fn contain(&self, namespace: &str) -> bool {
        let labels = || Labels::from([(NAMESPACE_NAME.to_owned(), namespace.to_owned())]);
        match self {
            Self::Named(named) => named.iter().any(|name| name == namespace),
            Self::Selected { named, selector } => {
                named.iter().any(|name| name == namespace) || selector.matches(&labels())
            }
        }
    }
}

/// `None` for a selector that cannot be parsed: it selects nothing.
pub(super) fn parse_selector(selector: &LabelSelector) -> Option<Selector> {
    Selector::parse(selector.clone()).ok()
}
