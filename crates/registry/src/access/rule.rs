//! One rule of a role: which verbs on which resources or paths.

use gantry_json::Value;

use super::{RequestAttributes, RequestTarget};

/// A rule. Empty lists allow nothing, except that no names means all names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessRule {
    /// The verbs; `*` for all.
    pub verbs: Vec<String>,
    /// The API groups; `*` for all.
    pub groups: Vec<String>,
    /// The resources, or `resource/subresource`; `*` for all, `*/scale` for that subresource of all.
    pub resources: Vec<String>,
    /// The names of objects.
    pub names: Vec<String>,
    /// Paths outside the resources; a `*` at the end matches any rest.
    pub paths: Vec<String>,
}

impl AccessRule {
    /// Parses a rule of a Role or ClusterRole; fields that are not lists of strings are empty.
    pub fn parse(rule: &Value) -> Self {
        let texts = |field: &str| {
            let list = rule.get(field).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            verbs: texts("verbs"),
            groups: texts("apiGroups"),
            resources: texts("resources"),
            names: texts("resourceNames"),
            paths: texts("nonResourceURLs"),
        }
    }

    /// Whether the rule allows the request.
    pub fn allows(&self, request: &RequestAttributes) -> bool {
        if !has(&self.verbs, &request.verb) {
            return false;
        }
        match &request.target {
            RequestTarget::Path(path) => self.paths.iter().any(|allowed| path_matches(allowed, path)),
            RequestTarget::Resource { group, resource, subresource, name, .. } => {
                let part = subresource.as_deref();
                has(&self.groups, group)
                    && self.resources.iter().any(|allowed| resource_matches(allowed, resource, part))
                    && (self.names.is_empty() || name.as_ref().is_some_and(|name| self.names.contains(name)))
            }
        }
    }

    /// Splits the rule into rules of one verb, one group, one resource or path, and one name.
    pub(super) fn atoms(&self) -> impl Iterator<Item = Self> {
        let one = |text: &String| vec![text.clone()];
        self.verbs.iter().flat_map(move |verb| {
            let paths = self.paths.iter();
            let of_paths =
                paths.map(move |path| Self { verbs: one(verb), paths: one(path), ..Self::default() });
            let pairs = self.groups.iter().flat_map(|group| self.resources.iter().map(move |it| (group, it)));
            let of_resources = pairs.flat_map(move |(group, resource)| {
                let atom = Self {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    ..Self::default()
                };
                let nameless = self.names.is_empty().then(|| atom.clone());
                let named = self.names.iter().map(move |name| Self { names: one(name), ..atom.clone() });
                nameless.into_iter().chain(named)
            });
            of_paths.chain(of_resources)
        })
    }

    /// The number of [atoms](Self::atoms).
    pub(super) fn atom_count(&self) -> usize {
        let names = self.names.len().max(1);
        let resources = self.groups.len().saturating_mul(self.resources.len()).saturating_mul(names);
        self.verbs.len().saturating_mul(self.paths.len().saturating_add(resources))
    }

    /// Whether this rule allows everything that the atom allows.
    pub(super) fn covers(&self, atom: &Self) -> bool {
        let all_in = |mine: &[String], theirs: &[String]| theirs.iter().all(|text| has(mine, text));
        let resource_covered = |resource: &String| {
            let (whole, part) =
                resource.split_once('/').map_or((resource.as_str(), None), |(w, p)| (w, Some(p)));
            self.resources.iter().any(|mine| mine == resource || resource_matches(mine, whole, part))
        };
        let path_covered =
            |path: &String| self.paths.iter().any(|mine| mine == path || path_matches(mine, path));
        all_in(&self.verbs, &atom.verbs)
            && all_in(&self.groups, &atom.groups)
            && atom.resources.iter().all(resource_covered)
            && atom.paths.iter().all(path_covered)
            && (self.names.is_empty()
                || (!atom.names.is_empty() && atom.names.iter().all(|n| self.names.contains(n))))
    }
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|entry| entry == "*" || entry == text)
}

/// Matches a resource: `*` is all, `*/scale` that subresource of all; `pods/*` has no special meaning.
fn resource_matches(allowed: &str, resource: &str, part: Option<&str>) -> bool {
    match (allowed, part) {
        ("*", _) => true,
        (allowed, None) => allowed == resource,
        (allowed, Some(part)) => match allowed.split_once('/') {
            Some((whole, allowed_part)) => (whole == "*" || whole == resource) && allowed_part == part,
            None => false,
        },
    }
}

fn path_matches(allowed: &str, path: &str) -> bool {
    match allowed.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => allowed == path,
    }
}
