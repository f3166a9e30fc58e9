//! A JSON document that is edited: containers are opened when a path leads into them, and only lists of an open
//! container are stored in chunks, so that inserting at the head of a long list is cheap.

use std::collections::BTreeMap;

use gantry_json::{SmolStr, Value};

/// A value of the document.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A value that no path led into.
    Closed(Value),
    /// An open object.
    Object(BTreeMap<SmolStr, Node>),
    /// An open list.
    List(ChunkedList),
}

/// A list in chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkedList {
    /// None of them is empty.
    chunks: Vec<Vec<Node>>,
    length: usize,
}

/// The most elements of a chunk; a larger one is split.
const CHUNK: usize = 1024;

impl Node {
    /// Opens the value if it is a container.
    pub(super) fn open(&mut self) -> &mut Self {
        if let Self::Closed(value) = self {
            match std::mem::take(value) {
                Value::Object(members) => {
                    let members = members.into_iter().map(|(name, value)| (name, Self::Closed(value)));
                    *self = Self::Object(members.collect());
                }
                Value::Array(elements) => {
                    *self = Self::List(elements.into_iter().map(Self::Closed).collect());
                }
                scalar => *value = scalar,
            }
        }
        self
    }

    /// The value.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Closed(value) => value,
            Self::Object(members) => {
                members.into_iter().map(|(name, node)| (name, node.into_value())).collect()
            }
            Self::List(list) => list.chunks.into_iter().flatten().map(Self::into_value).collect(),
        }
    }

    /// A copy of the value.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Closed(value) => value.clone(),
            open => open.clone().into_value(),
        }
    }

    /// Whether the value equals this one.
    pub(super) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Closed(value), other) => value == other,
            (Self::Object(members), Value::Object(others)) => {
                members.len() == others.len()
                    && members.iter().all(|(name, node)| others.get(name).is_some_and(|it| node.equals(it)))
            }
            (Self::List(list), Value::Array(others)) => {
                list.length == others.len()
                    && list.chunks.iter().flatten().zip(others).all(|(node, other)| node.equals(other))
            }
            _ => false,
        }
    }

    /// The nesting depth of the value, itself included, if it has at most `visits` values; they are subtracted.
    pub(super) fn depth(&self, visits: &mut usize) -> Option<usize> {
        *visits = visits.checked_sub(1)?;
        let mut deepest = 0;
        match self {
            Self::Closed(value) => return depth(value, visits),
            Self::Object(members) => {
                for node in members.values() {
                    deepest = deepest.max(node.depth(visits)?);
                }
            }
            Self::List(list) => {
                for node in list.chunks.iter().flatten() {
                    deepest = deepest.max(node.depth(visits)?);
                }
            }
        }
        Some(1 + deepest)
    }
}

fn depth(value: &Value, visits: &mut usize) -> Option<usize> {
    *visits = visits.checked_sub(1)?;
    let mut deepest = 0;
    match value {
        Value::Object(members) => {
            for value in members.values() {
                deepest = deepest.max(depth(value, visits)?);
            }
        }
        Value::Array(elements) => {
            for value in elements {
                deepest = deepest.max(depth(value, visits)?);
            }
        }
        _ => return Some(0),
    }
    Some(1 + deepest)
}

impl ChunkedList {
    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The element at an index.
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Node> {
        let (chunk, offset) = self.place(index);
        self.chunks.get_mut(chunk)?.get_mut(offset)
    }

    /// Inserts an element before the one at an index, or at the end.
    pub(super) fn insert(&mut self, index: usize, node: Node) {
        self.length += 1;
        // An index at the end of a chunk is inserted at the start of the next one, except in the last chunk.
        let (mut chunk, mut offset) = self.place(index);
        if chunk == self.chunks.len() {
            match self.chunks.last() {
                Some(last) => (chunk, offset) = (chunk - 1, last.len()),
                None => self.chunks.push(Vec::new()),
            }
        }
        let elements = &mut self.chunks[chunk];
        elements.insert(offset, node);
        if elements.len() > CHUNK {
            let rest = elements.split_off(CHUNK / 2);
            self.chunks.insert(chunk + 1, rest);
        }
    }

    /// Removes the element at an index.
    pub(super) fn remove(&mut self, index: usize) -> Option<Node> {
        let (chunk, offset) = self.place(index);
        let elements = self.chunks.get_mut(chunk).filter(|elements| offset < elements.len())?;
        let removed = elements.remove(offset);
        if elements.is_empty() {
            self.chunks.remove(chunk);
        }
        self.length -= 1;
        Some(removed)
    }

    /// The chunk of an index, and the offset in it.
    fn place(&self, index: usize) -> (usize, usize) {
        let mut offset = index;
        for (chunk, elements) in self.chunks.iter().enumerate() {
            if offset < elements.len() {
                return (chunk, offset);
            }
            offset -= elements.len();
        }
        (self.chunks.len(), offset)
    }
}

impl FromIterator<Node> for ChunkedList {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        let mut list = Self::default();
        let mut nodes = nodes.into_iter();
        loop {
            let chunk: Vec<_> = nodes.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return list;
            }
            list.length += chunk.len();
            list.chunks.push(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// The same operations on a chunked list and on a vector have the same result.
    #[test]
    fn a_chunked_list_is_a_list() {
        let mut list: ChunkedList = (0..3000).map(|number| Node::Closed(json!(number))).collect();
        let mut vector: Vec<Value> = (0..3000).map(|number| json!(number)).collect();
        for step in 0..6000_usize {
            let index = step.wrapping_mul(7919) % (vector.len() + 1);
            if step % 3 == 0 && index < vector.len() {
                assert_eq!(list.remove(index).map(Node::into_value), Some(vector.remove(index)));
            } else {
                list.insert(index, Node::Closed(json!(step)));
                vector.insert(index, json!(step));
            }
            assert_eq!(list.len(), vector.len());
        }
        assert!(list.remove(vector.len()).is_none());
        assert_eq!(Node::List(list).into_value(), Value::Array(vector));
    }
}
