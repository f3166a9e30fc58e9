//! The canonical form of a template: equal bytes for equal meaning.
//!
//! A serde serializer, because serde distinguishes a map from a struct and names both, which JSON does not: an empty
//! map is the same as none, an empty struct (`securityContext: {}`) mostly is not.

use std::fmt;

use gantry_formats::quantity;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde::ser::{self, Serialize, Serializer};

use super::plain;
use crate::keys;

/// The canonical bytes of a template, without its hash label.
pub(super) fn bytes(template: &PodTemplateSpec) -> Vec<u8> {
    let mut metadata = template.metadata.clone();
    if let Some(labels) = metadata.as_mut().and_then(|meta| meta.labels.as_mut()) {
        labels.remove(keys::HASH_LABEL);
    }
    let mut out = Vec::with_capacity(1024);
    let mut whole = Fields::begin(&mut out, "PodTemplateSpec");
    let written = whole.write("metadata", &metadata).and_then(|()| whole.write("spec", &template.spec));
    // A template consists of maps with text keys, lists, texts and numbers, whose serialization cannot fail.
    debug_assert!(written.is_ok(), "{written:?}");
    whole.end();
    out
}

/// The kind of a written value, as far as the field around it depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Something,
    Nothing,
    EmptyCollection,
    /// An empty struct, zero, false or an empty text.
    Zero,
}

/// A shape that no Kubernetes type has.
#[derive(Debug)]
struct Unsupported(String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

impl ser::Error for Unsupported {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Canonical<'a> {
    out: &'a mut Vec<u8>,
}

impl Canonical<'_> {
    fn number(self, value: impl fmt::Display, is_zero: bool) -> Written {
        self.out.extend_from_slice(value.to_string().as_bytes());
        if is_zero { Written::Zero } else { Written::Something }
    }

    /// Writes the length first, so that no text can be mistaken for the end of another.
    fn text(self, value: &str) -> Written {
        self.out.extend_from_slice(value.len().to_string().as_bytes());
        self.out.push(b':');
        self.out.extend_from_slice(value.as_bytes());
        if value.is_empty() { Written::Zero } else { Written::Something }
    }
}

/// Serializes a number as one of a wider type.
macro_rules! widened {
    ($($method:ident: $type:ty => $wider:ident,)*) => {
        $(fn $method(self, v: $type) -> Result<Written, Unsupported> {
            self.$wider(v.into())
        })*
    };
}

impl<'a> Serializer for Canonical<'a> {
    type Ok = Written;
    type Error = Unsupported;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = ser::Impossible<Written, Unsupported>;
    type SerializeTupleStruct = ser::Impossible<Written, Unsupported>;
    type SerializeTupleVariant = ser::Impossible<Written, Unsupported>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = ser::Impossible<Written, Unsupported>;

    fn serialize_bool(self, v: bool) -> Result<Written, Unsupported> {
        Ok(self.number(v, !v))
    }
    widened! {
        serialize_i8: i8 => serialize_i64, serialize_i16: i16 => serialize_i64, serialize_i32: i32 => serialize_i64,
        serialize_u8: u8 => serialize_u64, serialize_u16: u16 => serialize_u64, serialize_u32: u32 => serialize_u64,
        serialize_f32: f32 => serialize_f64,
    }
    fn serialize_i64(self, v: i64) -> Result<Written, Unsupported> {
        Ok(self.number(v, v == 0))
    }
    fn serialize_u64(self, v: u64) -> Result<Written, Unsupported> {
        Ok(self.number(v, v == 0))
    }
    fn serialize_f64(self, v: f64) -> Result<Written, Unsupported> {
        Ok(self.number(v, v == 0.0))
    }
    fn serialize_char(self, v: char) -> Result<Written, Unsupported> {
        Ok(self.text(v.encode_utf8(&mut [0; 4])))
    }
    fn serialize_str(self, v: &str) -> Result<Written, Unsupported> {
        Ok(self.text(v))
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<Written, Unsupported> {
        self.out.extend_from_slice(v);
        Ok(Written::Something)
    }
    fn serialize_none(self) -> Result<Written, Unsupported> {
        Ok(Written::Nothing)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Unsupported> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Written, Unsupported> {
        Ok(Written::Nothing)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Unsupported> {
        Ok(Written::Nothing)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<Written, Unsupported> {
        Ok(self.text(name))
    }
    /// Quantities are the one newtype that is not compared by its text.
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Written, Unsupported> {
        let start = self.out.len();
        let written = value.serialize(Canonical { out: self.out })?;
        if name != "Quantity" {
            return Ok(written);
        }
        let text = String::from_utf8_lossy(&self.out[start..]).into_owned();
        let text = text.split_once(':').map_or("", |(_, text)| text);
        Ok(match quantity::parse_billionths(text) {
            Some(nanos) => {
                self.out.truncate(start);
                self.number(nanos, nanos == 0)
            }
            None => written,
        })
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<Written, Unsupported> {
        value.serialize(self)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, Unsupported> {
        Ok(Items::begin(self.out, *b"[]"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, Unsupported> {
        Ok(Items::begin(self.out, *b"()"))
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>, Unsupported> {
        Ok(Fields::begin(self.out, name))
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Unsupported> {
        Err(Unsupported("a tuple".to_owned()))
    }
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Unsupported> {
        Err(Unsupported(format!("the tuple {name}")))
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unsupported> {
        Err(Unsupported(format!("the tuple {name}")))
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unsupported> {
        Err(Unsupported(format!("the variant {name}")))
    }
}

/// A list or a map. Its members count even if they are empty: `[""]` is not `[]`.
struct Items<'a> {
    out: &'a mut Vec<u8>,
    closing: u8,
    count: usize,
}

impl<'a> Items<'a> {
    fn begin(out: &'a mut Vec<u8>, [opening, closing]: [u8; 2]) -> Self {
        out.push(opening);
        Self { out, closing, count: 0 }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        self.count += 1;
        value.serialize(Canonical { out: self.out })?;
        self.out.push(b',');
        Ok(())
    }

    fn finish(self) -> Written {
        self.out.push(self.closing);
        if self.count == 0 { Written::EmptyCollection } else { Written::Something }
    }
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = Written;
    type Error = Unsupported;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        self.push(value)
    }
    fn end(self) -> Result<Written, Unsupported> {
        Ok(self.finish())
    }
}

impl ser::SerializeMap for Items<'_> {
    type Ok = Written;
    type Error = Unsupported;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unsupported> {
        self.push(key)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        self.push(value)
    }
    fn end(self) -> Result<Written, Unsupported> {
        Ok(self.finish())
    }
}

/// A struct. Fields that mean the same as absent ones are removed again.
struct Fields<'a> {
    out: &'a mut Vec<u8>,
    name: &'static str,
    count: usize,
}

impl<'a> Fields<'a> {
    fn begin(out: &'a mut Vec<u8>, name: &'static str) -> Self {
        out.push(b'{');
        Self { out, name, count: 0 }
    }

    fn write<T: Serialize + ?Sized>(&mut self, field: &'static str, value: &T) -> Result<(), Unsupported> {
        let start = self.out.len();
        self.out.extend_from_slice(field.as_bytes());
        self.out.push(b'=');
        let written = value.serialize(Canonical { out: self.out })?;
        let means_absent = match written {
            Written::Something => false,
            Written::Nothing | Written::EmptyCollection => true,
            Written::Zero => plain::is_plain(self.name, field),
        };
        if means_absent {
            self.out.truncate(start);
        } else {
            self.out.push(b';');
            self.count += 1;
        }
        Ok(())
    }

    fn end(self) -> Written {
        self.out.push(b'}');
        if self.count == 0 { Written::Zero } else { Written::Something }
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = Written;
    type Error = Unsupported;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        field: &'static str,
        value: &T,
    ) -> Result<(), Unsupported> {
        self.write(field, value)
    }
    fn end(self) -> Result<Written, Unsupported> {
        Ok(Fields::end(self))
    }
}
