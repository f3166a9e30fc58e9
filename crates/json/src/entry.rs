//! The place of a member in an object.

use smol_str::SmolStr;

use crate::{Map, Value};

/// The place of a member that may or may not exist.
#[derive(Debug)]
pub struct MapEntry<'a> {
    pub(crate) map: &'a mut Map,
    pub(crate) name: SmolStr,
}

impl<'a> MapEntry<'a> {
    /// The value; inserts this one if there is none.
    pub fn or_insert(self, value: Value) -> &'a mut Value {
        self.or_insert_with(|| value)
    }

    /// The value; inserts the result of this function if there is none.
    ///
    /// # Panics
    /// Never: the member was inserted just before.
    pub fn or_insert_with(self, value: impl FnOnce() -> Value) -> &'a mut Value {
        if !self.map.contains_key(&self.name) {
            self.map.insert(self.name.clone(), value());
        }
        self.map.members_mut().get_mut(&self.name).expect("the member was inserted")
    }

    /// Changes the value if there is one.
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&mut Value)) -> Self {
        if let Some(value) = self.map.get_mut(&self.name) {
            change(value);
        }
        self
    }
}
