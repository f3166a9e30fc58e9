//! What pods ask of one another: to be near, to be apart, to be spread evenly.
//!
//! A *domain* is all nodes that have the same value of a label, such as a zone; with `kubernetes.io/hostname` each node is
//! one. Only what is required is heard here. What is merely preferred between pods is not: replicas are kept apart anyway.

use std::collections::{BTreeMap, BTreeSet};

use gantry_model::{Labels, Requirement, Selector};
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::cluster::Cluster;
use super::reasons::Refusal;
use super::{Node, Pod};

/// The label by which namespaces can be selected without knowing them.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A pod as others see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Person {
    namespace: String,
    labels: Labels,
    /// Whom it does not want around, which others have to respect.
    pub(super) apart: Vec<Term>,
    /// Whether it is being deleted: it no longer counts for even spreading.
    leaving: bool,
}

/// What a pod asks of those that are there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Company {
    near: Vec<Term>,
    spread: Vec<Spread>,
}

/// Some pods, and how far they matter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    namespaces: Namespaces,
    /// No pods if there is none.
    selector: Option<Selector>,
    topology: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Namespaces {
    Named(Vec<String>),
    Selected { named: Vec<String>, selector: Selector },
}

/// At most so much difference between domains.
#[derive(Clone, Debug, PartialEq)]
struct Spread {
    topology: String,
    skew_max: i64,
    domains_min: usize,
    selector: Option<Selector>,
    affinity: Policy,
    taints: Policy,
}

/// Whether nodes that the pod cannot go to count as domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Honor,
    Ignore,
}

/// Who is where, as far as it matters for one pod.
#[derive(Debug, Default)]
pub(super) struct Survey<'a> {
    near: Option<Near<'a>>,
    /// Domains with pods that this one wants to be apart from.
    shunned: BTreeSet<(&'a str, &'a str)>,
    /// Domains with pods that want to be apart from this one.
    unwelcome: BTreeSet<(&'a str, &'a str)>,
    spread: Vec<Counted<'a>>,
}

#[derive(Debug)]
struct Near<'a> {
    terms: &'a [Term],
    domains: BTreeSet<(&'a str, &'a str)>,
    /// Nobody fits, but the pod itself would: somebody has to be first.
    first: bool,
}

#[derive(Debug)]
struct Counted<'a> {
    spread: &'a Spread,
    domains: BTreeMap<&'a str, i64>,
    least: i64,
    /// One if the pod itself counts.
    itself: i64,
}

impl Person {
    pub(super) fn parse(pod: &wire::Pod) -> Self {
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        let affinity = pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref());
        let apart = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
        let apart =
            apart.and_then(|apart| apart.required_during_scheduling_ignored_during_execution.as_ref());
        Self {
            apart: apart.into_iter().flatten().map(|term| Term::parse(term, &namespace)).collect(),
            namespace,
            labels: pod.metadata.labels.clone().unwrap_or_default(),
            leaving: pod.metadata.deletion_timestamp.is_some(),
        }
    }
}

impl Company {
    pub(super) fn parse(pod: &wire::Pod) -> Self {
        let spec = pod.spec.as_ref();
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        let near =
            spec.and_then(|spec| spec.affinity.as_ref()).and_then(|affinity| affinity.pod_affinity.as_ref());
        let near = near.and_then(|near| near.required_during_scheduling_ignored_during_execution.as_ref());
        let spread = spec.and_then(|spec| spec.topology_spread_constraints.as_ref()).into_iter().flatten();
        let labels = pod.metadata.labels.clone().unwrap_or_default();
        let hard = spread.filter(|spread| spread.when_unsatisfiable == "DoNotSchedule");
        Self {
            near: near.into_iter().flatten().map(|term| Term::parse(term, &namespace)).collect(),
            spread: hard.map(|spread| Spread::parse(spread, &labels)).collect(),
        }
    }
}

impl<'a> Survey<'a> {
    /// Looks around for a pod. Where nobody asks anything of anybody, nobody is looked at.
    pub(super) fn of(cluster: &'a Cluster, pod: &'a Pod) -> Self {
        let mut survey = Self::default();
        let Pod { person, company, .. } = pod;
        if !company.near.is_empty() {
            let first = company.near.iter().all(|term| term.means(person));
            survey.near = Some(Near { terms: &company.near, domains: BTreeSet::new(), first });
        }
        survey.spread = company.spread.iter().map(|spread| spread.count(cluster, pod)).collect();
        let asks = survey.near.is_some() || !person.apart.is_empty();
        if asks || cluster.has_loners() {
            cluster.people().for_each(|(other, node)| survey.notice(pod, other, node));
        }
        survey
    }

    fn notice(&mut self, pod: &'a Pod, other: &'a Person, node: &'a Node) {
        if let Some(near) = &mut self.near
            && near.terms.iter().all(|term| term.means(other))
        {
            near.first = false;
            near.domains.extend(near.terms.iter().filter_map(|term| term.domain(node)));
        }
        let shunned = pod.person.apart.iter().filter(|term| term.means(other));
        self.shunned.extend(shunned.filter_map(|term| term.domain(node)));
        let unwelcome = other.apart.iter().filter(|term| term.means(&pod.person));
        self.unwelcome.extend(unwelcome.filter_map(|term| term.domain(node)));
    }

    /// Why those that are there keep the pod off a node; `None` if they do not.
    pub(super) fn refusal(&self, node: &Node) -> Option<Refusal> {
        for counted in &self.spread {
            let Some(domain) = node.labels.get(&counted.spread.topology) else {
                return Some(Refusal::OffTheMap);
            };
            let there = counted.domains.get(domain.as_str()).copied().unwrap_or(0);
            if there + counted.itself - counted.least > counted.spread.skew_max {
                return Some(Refusal::Uneven);
            }
        }
        if self.near.as_ref().is_some_and(|near| !near.holds(node)) {
            return Some(Refusal::TooFar);
        }
        let lies_in = |(key, value): &(&str, &str)| node.labels.get(*key).is_some_and(|known| known == value);
        if self.shunned.iter().any(lies_in) {
            return Some(Refusal::TooNear);
        }
        self.unwelcome.iter().any(lies_in).then_some(Refusal::Unwelcome)
    }
}

impl Near<'_> {
    fn holds(&self, node: &Node) -> bool {
        self.terms
            .iter()
            .all(|term| term.domain(node).is_some_and(|domain| self.first || self.domains.contains(&domain)))
    }
}

impl Term {
    fn parse(term: &wire::PodAffinityTerm, own: &str) -> Self {
        let named = term.namespaces.clone().unwrap_or_default();
        let namespaces = match term.namespace_selector.as_ref().and_then(selector) {
            Some(selector) => Namespaces::Selected { named, selector },
            None if named.is_empty() => Namespaces::Named(vec![own.to_owned()]),
            None => Namespaces::Named(named),
        };
        let selector = term.label_selector.as_ref().and_then(selector);
        Self { namespaces, selector, topology: term.topology_key.clone() }
    }

    /// Whether it is about this pod.
    fn means(&self, person: &Person) -> bool {
        self.namespaces.contain(&person.namespace)
            && self.selector.as_ref().is_some_and(|selector| selector.matches(&person.labels))
    }

    fn domain<'a>(&'a self, node: &'a Node) -> Option<(&'a str, &'a str)> {
        let (key, value) = node.labels.get_key_value(&self.topology)?;
        Some((key, value))
    }
}

impl Namespaces {
    fn contain(&self, namespace: &str) -> bool {
        let known = || Labels::from([(NAMESPACE_NAME.to_owned(), namespace.to_owned())]);
        match self {
            Self::Named(named) => named.iter().any(|name| name == namespace),
            Self::Selected { named, selector } => {
                named.iter().any(|name| name == namespace) || selector.matches(&known())
            }
        }
    }
}

impl Spread {
    fn parse(spread: &wire::TopologySpreadConstraint, labels: &Labels) -> Self {
        let policy = |written: &Option<String>, default| match written.as_deref() {
            Some("Honor") => Policy::Honor,
            Some("Ignore") => Policy::Ignore,
            _ => default,
        };
        let same = spread.match_label_keys.iter().flatten().filter_map(|key| labels.get_key_value(key));
        let same: Vec<_> = same.map(|(key, value)| Requirement::Equals(key.clone(), value.clone())).collect();
        Self {
            topology: spread.topology_key.clone(),
            skew_max: spread.max_skew.into(),
            domains_min: spread.min_domains.and_then(|least| usize::try_from(least).ok()).unwrap_or(1),
            selector: spread
                .label_selector
                .as_ref()
                .and_then(selector)
                .map(|selector| narrowed(selector, same)),
            affinity: policy(&spread.node_affinity_policy, Policy::Honor),
            taints: policy(&spread.node_taints_policy, Policy::Ignore),
        }
    }

    /// Counts pods by domain, over the nodes that count for this pod.
    fn count<'a>(&'a self, cluster: &'a Cluster, pod: &Pod) -> Counted<'a> {
        let counts = |node: &Node| {
            let wanted = self.affinity == Policy::Ignore || pod.wishes.allow(node);
            let tolerated =
                || !node.taints.iter().any(|taint| taint.is_hard() && !taint.is_tolerated(&pod.tolerations));
            let mapped = pod.company.spread.iter().all(|spread| node.labels.contains_key(&spread.topology));
            mapped && wanted && (self.taints == Policy::Ignore || tolerated())
        };
        let matches = |person: &Person| {
            person.namespace == pod.person.namespace
                && self.selector.as_ref().is_some_and(|selector| selector.matches(&person.labels))
        };
        let mut domains: BTreeMap<&str, i64> = BTreeMap::new();
        for node in cluster.sites().map(|site| &site.node).filter(|node| counts(node)) {
            domains.entry(&node.labels[&self.topology]).or_default();
        }
        let counted = |(person, node): &(&Person, &Node)| !person.leaving && matches(person) && counts(node);
        for (_, node) in cluster.people().filter(counted) {
            *domains.entry(&node.labels[&self.topology]).or_default() += 1;
        }
        let enough = domains.len() >= self.domains_min;
        let least = if enough { domains.values().min().copied().unwrap_or(0) } else { 0 };
        Counted { spread: self, domains, least, itself: i64::from(matches(&pod.person)) }
    }
}

/// A selector that could be read; one that could not selects nothing.
fn selector(written: &LabelSelector) -> Option<Selector> {
    Selector::parse(written.clone()).ok()
}

fn narrowed(selector: Selector, more: Vec<Requirement>) -> Selector {
    match selector {
        selector if more.is_empty() => selector,
        Selector::Everything => Selector::All(more),
        Selector::All(mut all) => {
            all.extend(more);
            Selector::All(all)
        }
    }
}
