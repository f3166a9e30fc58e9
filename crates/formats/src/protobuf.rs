//! The protobuf wire format: tags, variable-length integers, lengths. It has no messages.

use std::fmt;

/// Why bytes are not a message; its `Display` is Go's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedMessage {
    /// They end within a field.
    CutShort,
    /// The tag has no valid field number.
    IllegalTag(u64),
    /// The tag has a wire type that proto3 does not use.
    IllegalWireType(u64),
    /// An integer has more than ten bytes.
    IntegerOverflow,
    /// A length does not fit into memory.
    NegativeLength,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A number or a boolean.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
    /// Four bytes.
    Fixed32(u32),
}

/// A field as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageField<'a> {
    /// Its number.
    pub number: u32,
    /// Its value.
    pub value: FieldValue<'a>,
    /// Its tag and value as they are encoded.
    pub encoded: &'a [u8],
}

/// The fields of a message, in their order on the wire. After an error there are no more.
#[derive(Clone, Debug)]
pub struct MessageFields<'a> {
    rest: &'a [u8],
}

/// Returns the fields of a message.
pub fn fields(message: &[u8]) -> MessageFields<'_> {
    MessageFields { rest: message }
}

impl<'a> Iterator for MessageFields<'a> {
    type Item = Result<MessageField<'a>, MalformedMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> MessageFields<'a> {
    fn field(&mut self) -> Result<MessageField<'a>, MalformedMessage> {
        let whole = self.rest;
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0);
        let number = number.ok_or(MalformedMessage::IllegalTag(tag))?;
        let value = match tag & 7 {
            0 => FieldValue::Varint(self.varint()?),
            1 => FieldValue::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| MalformedMessage::NegativeLength)?;
                FieldValue::Bytes(self.take(length)?)
            }
            5 => FieldValue::Fixed32(u32::from_le_bytes(self.array()?)),
            other => return Err(MalformedMessage::IllegalWireType(other)),
        };
        Ok(MessageField { number, value, encoded: &whole[..whole.len() - self.rest.len()] })
    }

    fn varint(&mut self) -> Result<u64, MalformedMessage> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        Ok(value)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedMessage> {
        self.take(N)?.try_into().map_err(|_| MalformedMessage::CutShort)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedMessage> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(MalformedMessage::CutShort)?;
        self.rest = rest;
        Ok(taken)
    }
}

impl<'a> FieldValue<'a> {
    /// The bytes of the value; empty for a number.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// The text of the value. Invalid UTF-8 is replaced, as in JSON.
    pub fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The number; zero for bytes.
    pub fn int64(self) -> i64 {
        match self {
            Self::Varint(number) => number.cast_signed(),
            _ => 0,
        }
    }

    /// The number of 32 bits, which is sign-extended on the wire; higher bits are dropped.
    pub fn int32(self) -> i32 {
        let [a, b, c, d, ..] = self.int64().to_le_bytes();
        i32::from_le_bytes([a, b, c, d])
    }

    /// The boolean.
    pub fn bool(self) -> bool {
        self.int64() != 0
    }
}

/// Decodes a variable-length integer; returns it and the bytes after it.
fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), MalformedMessage> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err(if bytes.len() < 10 { MalformedMessage::CutShort } else { MalformedMessage::IntegerOverflow })
}

/// Returns the numbers of a packed repeated field.
pub fn packed(mut bytes: &[u8]) -> Result<Vec<u64>, MalformedMessage> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        let (number, rest) = varint(bytes)?;
        numbers.push(number);
        bytes = rest;
    }
    Ok(numbers)
}

/// Returns the first field of this number; empty if the message has none. Fields after it are not decoded.
pub fn find(message: &[u8], number: u32) -> Result<FieldValue<'_>, MalformedMessage> {
    for field in fields(message) {
        let field = field?;
        if field.number == number {
            return Ok(field.value);
        }
    }
    Ok(FieldValue::Bytes(&[]))
}

/// Returns the message without the fields of these numbers.
pub fn without(message: &[u8], numbers: &[u32]) -> Result<MessageWriter, MalformedMessage> {
    let mut kept = Vec::with_capacity(message.len());
    for field in fields(message) {
        let field = field?;
        if !numbers.contains(&field.number) {
            kept.extend_from_slice(field.encoded);
        }
    }
    Ok(MessageWriter(kept))
}

/// Writes the fields of a message.
#[derive(Clone, Debug, Default)]
pub struct MessageWriter(Vec<u8>);

impl MessageWriter {
    /// Adds a number.
    pub fn varint(&mut self, number: u32, value: u64) {
        self.raw_varint(u64::from(number) << 3);
        self.raw_varint(value);
    }

    /// Adds a number of 32 bits.
    pub fn int32(&mut self, number: u32, value: i32) {
        self.int64(number, value.into());
    }

    /// Adds a number of 64 bits.
    pub fn int64(&mut self, number: u32, value: i64) {
        self.varint(number, value.cast_unsigned());
    }

    /// Adds a text, bytes or an encoded message.
    pub fn bytes(&mut self, number: u32, value: &[u8]) {
        self.raw_varint((u64::from(number) << 3) | 2);
        self.raw_varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Adds a text.
    pub fn text(&mut self, number: u32, value: &str) {
        self.bytes(number, value.as_bytes());
    }

    /// Adds a message.
    pub fn message(&mut self, number: u32, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(number, &inner.0);
    }

    /// The encoded message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

impl fmt::Display for MalformedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutShort => f.write_str("unexpected EOF"),
            Self::IllegalTag(tag) => write!(f, "proto: illegal tag {} (wire type {tag})", tag >> 3),
            Self::IllegalWireType(other) => write!(f, "proto: illegal wireType {other}"),
            Self::IntegerOverflow => f.write_str("proto: integer overflow"),
            Self::NegativeLength => f.write_str("proto: negative length found"),
        }
    }
}

impl std::error::Error for MalformedMessage {}

impl From<MalformedMessage> for String {
    fn from(malformed: MalformedMessage) -> Self {
        malformed.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_messages_are_read_back() {
        let mut writer = MessageWriter::default();
        writer.text(1, "v1");
        writer.int32(2, -1);
        writer.message(300, |inner| inner.varint(1, 150));
        let bytes = writer.into_bytes();
        let read: Vec<_> =
            fields(&bytes).map(|field| field.map(|field| (field.number, field.value))).collect();
        let inner = FieldValue::Bytes(&[0x08, 0x96, 0x01]);
        let minus_one = FieldValue::Varint(u64::MAX);
        assert_eq!(read, [Ok((1, FieldValue::Bytes(b"v1"))), Ok((2, minus_one)), Ok((300, inner))]);
        assert_eq!(minus_one.int32(), -1);
        assert_eq!(find(inner.bytes(), 1).unwrap().int64(), 150);
    }

    #[test]
    fn fields_are_left_out_and_the_others_stay_as_they_are() {
        let message = [0x0a, 1, b'a', 0x10, 0x96, 0x01, 0x0a, 1, b'b', 0x1d, 1, 2, 3, 4];
        assert_eq!(without(&message, &[1]).unwrap().into_bytes(), [0x10, 0x96, 0x01, 0x1d, 1, 2, 3, 4]);
        assert_eq!(without(&message, &[]).unwrap().into_bytes(), message);
    }

    #[test]
    fn a_truncated_message_ends_with_an_error() {
        for cut in [
            &[0x0a, 5, b'x'][..],
            &[0x80],
            &[0x08],
            &[0x09, 1, 2],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] {
            assert_eq!(fields(cut).last(), Some(Err(MalformedMessage::CutShort)), "{cut:?}");
        }
    }

    #[test]
    fn errors_have_the_messages_of_go() {
        let message = |bytes| fields(bytes).next().unwrap().unwrap_err().to_string();
        assert_eq!(message(&[0x0b]), "proto: illegal wireType 3");
        assert_eq!(message(&[0x02, 0x00]), "proto: illegal tag 0 (wire type 2)");
        assert_eq!(message(&[0xff; 10]), "proto: integer overflow");
    }

    #[test]
    fn repeated_numbers_may_be_packed() {
        assert_eq!(packed(&[1, 0x96, 0x01]), Ok(vec![1, 150]));
        assert_eq!(packed(&[1, 0x96]), Err(MalformedMessage::CutShort));
    }
}
