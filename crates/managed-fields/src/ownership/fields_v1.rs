//! Encodes sets of paths as `fieldsV1`: nested objects, a leaf is `{}`, and `.` is the node itself.

use gantry_json::{Map, Value};

use super::path::Malformed;
use super::{FieldNode, FieldSet, PathElement};

/// The member that means the node itself.
const OWNED: &str = ".";

impl FieldSet {
    /// The set as `fieldsV1`.
    pub fn encode(&self) -> Value {
        Value::Object(self.nodes().map(|(element, node)| (element.encode(), node.encode())).collect())
    }

    /// Adds the paths of this set to `fieldsV1`.
    pub(super) fn absorb_into(&self, members: &mut Map) {
        for (element, node) in self.nodes() {
            let name = element.encode();
            match members.get(&name) {
                Some(Value::Object(inner)) => {
                    if node.is_missing_in(inner)
                        && let Some(Value::Object(inner)) = members.get_mut(&name)
                    {
                        node.absorb_into(inner);
                    }
                }
                _ => {
                    members.insert(name, node.encode());
                }
            }
        }
    }

    /// Decodes `fieldsV1`; absent is the empty set.
    pub fn decode(fields: &Value) -> Result<Self, Malformed> {
        match fields {
            Value::Null => Ok(Self::new()),
            Value::Object(members) => Self::decode_members(members),
            other => Err(Malformed(format!("no JSON object: {other}"))),
        }
    }

    fn decode_members(members: &Map) -> Result<Self, Malformed> {
        let mut set = Self::new();
        for (key, value) in members {
            let Some(element) = PathElement::decode(key)? else { continue };
            let Value::Object(inner) = value else {
                return Err(Malformed(format!("no JSON object: {value}")));
            };
            let below = Self::decode_members(inner)?;
            // Without any known element below it, the node itself is a member.
            let owned = below.is_empty() || inner.contains_key(OWNED);
            set.insert_node(element, FieldNode { owned, below });
        }
        Ok(set)
    }
}

impl FieldNode {
    /// Whether a member of `fieldsV1` lacks paths of this node.
    fn is_missing_in(&self, members: &Map) -> bool {
        let is_owned = members.is_empty() || members.contains_key(OWNED);
        self.owned && !is_owned
            || self.below.nodes().any(|(element, node)| match members.get(&element.encode()) {
                Some(Value::Object(inner)) => node.is_missing_in(inner),
                _ => true,
            })
    }

    /// Adds the paths of this node to a member of `fieldsV1`.
    fn absorb_into(&self, members: &mut Map) {
        let is_owned = self.owned || members.is_empty() || members.contains_key(OWNED);
        self.below.absorb_into(members);
        if is_owned && !members.is_empty() {
            members.insert(OWNED, Value::Object(Map::new()));
        }
    }

    fn encode(&self) -> Value {
        let mut inner = self.below.encode();
        if self.owned && !self.below.is_empty() {
            inner[OWNED] = Value::Object(Map::new());
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// A3.14: a leaf is `{}`, and `.` means that the node is owned as well as something below it.
    #[test]
    fn a_node_with_members_below_it_has_a_dot() {
        let mut set = FieldSet::of_fields(&["data", "data.k"]);
        assert_eq!(set.encode(), json!({"f:data": {".": {}, "f:k": {}}}));
        set.subtract(&FieldSet::of_fields(&["data.k"]));
        assert_eq!(set.encode(), json!({"f:data": {}}));
        assert_eq!(FieldSet::decode(&json!({"f:data": {".": {}}})), Ok(set));
    }

    #[test]
    fn invalid_field_sets_are_refused_and_unknown_elements_ignored() {
        assert!(FieldSet::decode(&json!([])).is_err());
        assert!(FieldSet::decode(&json!({"f:a": 1})).is_err());
        assert!(FieldSet::decode(&json!({"f:a": {"k:x": {}}})).is_err());
        assert_eq!(FieldSet::decode(&json!({"z:a": {}, ".": {}})), Ok(FieldSet::new()));
        assert_eq!(FieldSet::decode(&Value::Null), Ok(FieldSet::new()));
    }
}
