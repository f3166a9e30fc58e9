//! Sets of paths.
//!
//! A set is a tree of path elements; a node may be a member itself, have members below it, or both. Sets do not depend
//! on schemas; [`super::fields_of`] computes the set of an object.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::PathElement;

/// A set of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Every node is a member or has members below it, so that equal sets are equal trees.
    nodes: BTreeMap<PathElement, FieldNode>,
}

/// A node: one path and the members below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldNode {
    /// Whether the path itself is in the set.
    pub owned: bool,
    /// The members below it.
    pub below: FieldSet,
}

impl FieldSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of these dotted paths of plain fields, such as `metadata.labels`.
    pub fn of_fields(paths: &[&str]) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(path.split('.').map(PathElement::field));
        }
        set
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of paths.
    pub fn len(&self) -> usize {
        self.nodes.values().map(|node| usize::from(node.owned) + node.below.len()).sum()
    }

    /// The node of a path element.
    pub fn node(&self, element: &PathElement) -> Option<&FieldNode> {
        self.nodes.get(element)
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (&PathElement, &FieldNode)> {
        self.nodes.iter()
    }

    /// The nodes, mutably; the caller must leave no empty ones.
    pub(super) fn nodes_mut(&mut self) -> impl Iterator<Item = (&PathElement, &mut FieldNode)> {
        self.nodes.iter_mut()
    }

    /// Whether this path is a member.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.nodes.get(last).is_some_and(|node| node.owned),
            [first, rest @ ..] => self.nodes.get(first).is_some_and(|node| node.below.contains(rest)),
        }
    }

    /// Adds a path; an empty path is ignored.
    pub fn insert(&mut self, path: impl IntoIterator<Item = PathElement>) {
        let mut path = path.into_iter().peekable();
        let mut set = self;
        while let Some(element) = path.next() {
            let node = set.nodes.entry(element).or_default();
            node.owned |= path.peek().is_none();
            set = &mut node.below;
        }
    }

    /// Adds a node.
    pub fn insert_node(&mut self, element: PathElement, node: FieldNode) {
        if !node.is_empty() {
            match self.nodes.entry(element) {
                Entry::Vacant(vacant) => {
                    vacant.insert(node);
                }
                Entry::Occupied(mut occupied) => occupied.get_mut().absorb(node),
            }
        }
    }

    /// Adds all paths of the other set.
    pub fn absorb(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for (element, node) in other.nodes {
            self.insert_node(element, node);
        }
    }

    /// The union.
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.absorb(other.clone());
        union
    }

    /// The intersection.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::new();
        for (element, node) in &self.nodes {
            if let Some(theirs) = other.nodes.get(element) {
                let owned = node.owned && theirs.owned;
                let below = node.below.intersection(&theirs.below);
                both.insert_node(element.clone(), FieldNode { owned, below });
            }
        }
        both
    }

    /// The difference; members below a removed path are kept.
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        rest
    }

    /// Removes the paths of the other set.
    pub fn subtract(&mut self, other: &Self) {
        for (element, theirs) in &other.nodes {
            if let Entry::Occupied(mut mine) = self.nodes.entry(element.clone()) {
                let node = mine.get_mut();
                node.owned &= !theirs.owned;
                node.below.subtract(&theirs.below);
                if node.is_empty() {
                    mine.remove();
                }
            }
        }
    }

    /// Removes the paths of the other set, and all members below them.
    pub fn subtract_below(&mut self, other: &Self) {
        for (element, theirs) in &other.nodes {
            if let Entry::Occupied(mut mine) = self.nodes.entry(element.clone()) {
                if !theirs.owned {
                    mine.get_mut().below.subtract_below(&theirs.below);
                }
                if theirs.owned || mine.get().is_empty() {
                    mine.remove();
                }
            }
        }
    }

    /// Whether it is a subset of the other.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.nodes.iter().all(|(element, node)| {
            other
                .nodes
                .get(element)
                .is_some_and(|theirs| node.owned <= theirs.owned && node.below.is_subset(&theirs.below))
        })
    }

    /// The members without members below them.
    pub fn leaves(&self) -> Self {
        let mut leaves = Self::new();
        for (element, node) in &self.nodes {
            let owned = node.owned && node.below.is_empty();
            leaves.insert_node(element.clone(), FieldNode { owned, below: node.below.leaves() });
        }
        leaves
    }

    /// All paths in the order in which conflicts are reported: at each level the members first, then those below.
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, at: &mut Vec<PathElement>, paths: &mut Vec<Vec<PathElement>>) {
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.owned) {
            let mut path = at.clone();
            path.push(element.clone());
            paths.push(path);
        }
        for (element, node) in &self.nodes {
            at.push(element.clone());
            node.below.collect(at, paths);
            at.pop();
        }
    }
}

impl FieldNode {
    /// A member without members below it.
    pub fn leaf() -> Self {
        Self { owned: true, below: FieldSet::new() }
    }

    /// Whether it is neither a member nor has any below it.
    pub fn is_empty(&self) -> bool {
        !self.owned && self.below.is_empty()
    }

    fn absorb(&mut self, other: Self) {
        self.owned |= other.owned;
        self.below.absorb(other.below);
    }
}
