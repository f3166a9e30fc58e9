//! The place of a member in an object.

use smol_str::SmolStr;

use crate::{Map, Value};

/// The place of a member that may or may not exist.
#[derive(Debug)]
pub struct Entry<'a> {
    pub(crate) map: &'a mut Map,
    pub(crate) name: SmolStr,
    /// Where it is, or where it would be inserted.
    pub(crate) position: Result<usize, usize>,
}

impl<'a> Entry<'a> {
    /// The value; inserts this one if there is none.
    pub fn or_insert(self, value: Value) -> &'a mut Value {
        self.or_insert_with(|| value)
    }

    /// The value; inserts the result of this function if there is none.
    pub fn or_insert_with(self, value: impl FnOnce() -> Value) -> &'a mut Value {
        match self.position {
            Ok(position) => self.map.value_at(position),
            Err(position) => self.map.insert_at(position, self.name, value()),
        }
    }

    /// Changes the value if there is one.
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&mut Value)) -> Self {
        if let Ok(position) = self.position {
            change(self.map.value_at(position));
        }
        self
    }
}
