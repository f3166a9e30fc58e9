//! Indexing of values by names of members and positions of items.

use smol_str::SmolStr;

use crate::Value;

/// The name of a member or the position of an item.
pub trait Index {
    /// The value there.
    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value>;
    /// The value there, to be changed.
    fn find_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value>;
    /// The value there, to be changed. A missing member is added, and `null` becomes an object.
    ///
    /// # Panics
    /// If the value is no object, or no list that has this position.
    fn find_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value;
}

impl Index for str {
    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_object()?.get(self)
    }

    fn find_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    #[expect(clippy::panic, reason = "an index out of range panics")]
    fn find_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.is_null() {
            *value = Value::Object(crate::Map::new());
        }
        match value {
            Value::Object(members) => members.entry(self).or_insert(Value::Null),
            other => panic!("cannot access member {self:?} of {other:?}"),
        }
    }
}

impl Index for usize {
    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_array()?.get(*self)
    }

    fn find_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_array_mut()?.get_mut(*self)
    }

    #[expect(clippy::panic, reason = "an index out of range panics")]
    fn find_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        match value {
            Value::Array(items) => &mut items[*self],
            other => panic!("cannot access item {self} of {other:?}"),
        }
    }
}

macro_rules! index_by_text {
    ($($text:ty),*) => {$(
        impl Index for $text {
            fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
                Index::find(self.as_str(), value)
            }

            fn find_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
                Index::find_mut(self.as_str(), value)
            }

            fn find_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
                Index::find_or_insert(self.as_str(), value)
            }
        }
    )*};
}

index_by_text!(String, SmolStr);

impl<I: Index + ?Sized> Index for &I {
    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        (**self).find(value)
    }

    fn find_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        (**self).find_mut(value)
    }

    fn find_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        (**self).find_or_insert(value)
    }
}
