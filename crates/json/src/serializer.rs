//! Values from typed data.

use std::fmt::Display;

use serde::ser::{self, Serialize, Serializer};
use serde_json::{Error, Number};
use smol_str::SmolStr;

use crate::{Map, Value};

/// The value of typed data.
///
/// # Panics
/// If a map has names that are no strings, or a type refuses to be serialized: both are programming errors.
pub fn to_value<T: Serialize + ?Sized>(data: &T) -> Value {
    data.serialize(ToValue).expect("data with names that are strings can be written as JSON")
}

struct ToValue;

macro_rules! integers {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method(self, number: $type) -> Result<Value, Error> {
            Ok(number.into())
        })*
    };
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    fn serialize_bool(self, value: bool) -> Result<Value, Error> {
        Ok(value.into())
    }

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
    }

    fn serialize_f32(self, number: f32) -> Result<Value, Error> {
        Ok(f64::from(number).into())
    }

    fn serialize_f64(self, number: f64) -> Result<Value, Error> {
        Ok(number.into())
    }

    fn serialize_char(self, letter: char) -> Result<Value, Error> {
        Ok(Value::String(SmolStr::from_iter([letter])))
    }

    fn serialize_str(self, text: &str) -> Result<Value, Error> {
        Ok(text.into())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, Error> {
        Ok(bytes.iter().copied().collect())
    }

    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, data: &T) -> Result<Value, Error> {
        data.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value, Error> {
        Ok(Value::String(SmolStr::new_static(variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        data: &T,
    ) -> Result<Value, Error> {
        data.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        data: &T,
    ) -> Result<Value, Error> {
        Ok(of_variant(variant, data.serialize(self)?))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items, Error> {
        Ok(Items { items: Vec::with_capacity(length.unwrap_or_default()), variant: None })
    }

    fn serialize_tuple(self, length: usize) -> Result<Items, Error> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result<Items, Error> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Items, Error> {
        Ok(Items { items: Vec::with_capacity(length), variant: Some(variant) })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Members, Error> {
        let members = Vec::with_capacity(length.unwrap_or_default());
        Ok(Members { members, name: SmolStr::default(), variant: None })
    }

    fn serialize_struct(self, _name: &'static str, length: usize) -> Result<Members, Error> {
        self.serialize_map(Some(length))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Members, Error> {
        Ok(Members { variant: Some(variant), ..self.serialize_map(Some(length))? })
    }

    fn collect_str<T: Display + ?Sized>(self, data: &T) -> Result<Value, Error> {
        Ok(Value::String(smol_str::format_smolstr!("{data}")))
    }

    fn serialize_i128(self, number: i128) -> Result<Value, Error> {
        Number::from_i128(number).map(Value::Number).ok_or_else(|| ser::Error::custom("number out of range"))
    }

    fn serialize_u128(self, number: u128) -> Result<Value, Error> {
        Number::from_u128(number).map(Value::Number).ok_or_else(|| ser::Error::custom("number out of range"))
    }
}

fn of_variant(variant: &'static str, content: Value) -> Value {
    Value::from_iter([(SmolStr::new_static(variant), content)])
}

struct Items {
    items: Vec<Value>,
    variant: Option<&'static str>,
}

impl Items {
    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
        self.items.push(item.serialize(ToValue)?);
        Ok(())
    }

    fn into_value(self) -> Value {
        let items = Value::Array(self.items);
        match self.variant {
            Some(variant) => of_variant(variant, items),
            None => items,
        }
    }
}

macro_rules! serialize_items {
    ($($of:ident $push:ident),*) => {$(
        impl ser::$of for Items {
            type Ok = Value;
            type Error = Error;

            fn $push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
                self.push(item)
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.into_value())
            }
        }
    )*};
}

serialize_items!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

struct Members {
    members: Vec<(SmolStr, Value)>,
    /// The name of the next member of a map.
    name: SmolStr,
    variant: Option<&'static str>,
}

impl Members {
    fn into_value(self) -> Value {
        let members = Value::Object(Map::from_unsorted(self.members));
        match self.variant {
            Some(variant) => of_variant(variant, members),
            None => members,
        }
    }
}

impl ser::SerializeMap for Members {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Error> {
        self.name = match name.serialize(ToValue)? {
            Value::String(name) => name,
            Value::Number(number) => number.to_string().into(),
            _ => return Err(ser::Error::custom("the name of a member must be a string")),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.members.push((std::mem::take(&mut self.name), value.serialize(ToValue)?));
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        Ok(self.into_value())
    }
}

macro_rules! serialize_members {
    ($($of:ident),*) => {$(
        impl ser::$of for Members {
            type Ok = Value;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.members.push((SmolStr::new_static(name), value.serialize(ToValue)?));
                Ok(())
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.into_value())
            }
        }
    )*};
}

serialize_members!(SerializeStruct, SerializeStructVariant);
