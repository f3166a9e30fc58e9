//! The protobuf wire format: tags, variable-length integers, lengths. It knows no messages.

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32,
}

/// The fields of a message, in their order on the wire. After an error there are no more.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

/// Why a message is malformed, with Go's wording.
pub(super) const CUT_SHORT: &str = "unexpected EOF";

pub(super) fn fields(message: &[u8]) -> Fields<'_> {
    Fields { rest: message }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wire<'a>), String>;

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

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u32, Wire<'a>), String> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| format!("proto: illegal tag {} (wire type {tag})", tag >> 3))?;
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().unwrap_or_default())),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| "proto: negative length found")?;
                Wire::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Wire::Fixed32
            }
            other => return Err(format!("proto: illegal wireType {other}")),
        };
        Ok((number, wire))
    }

    fn varint(&mut self) -> Result<u64, String> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        Ok(value)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(CUT_SHORT)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Decodes a variable-length integer.
pub(super) fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), String> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err(if bytes.len() < 10 { CUT_SHORT.to_owned() } else { "proto: integer overflow".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A9.4: the example of an envelope, field by field.
    #[test]
    fn fields_are_read_one_by_one() {
        let message = [0x0a, 0x02, b'v', b'1', 0x10, 0x96, 0x01, 0x1a, 0x00];
        let read: Vec<_> = fields(&message).map(Result::unwrap).collect();
        assert_eq!(read, [(1, Wire::Bytes(b"v1")), (2, Wire::Varint(150)), (3, Wire::Bytes(b""))]);
    }

    #[test]
    fn a_message_that_is_cut_short_ends_with_an_error() {
        for cut in [
            &[0x0a, 5, b'x'][..],
            &[0x80],
            &[0x08],
            &[0x09, 1, 2],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] {
            let last = fields(cut).last().unwrap();
            assert_eq!(last, Err(CUT_SHORT.to_owned()), "{cut:?}");
        }
        assert!(fields(&[0x0b]).next().unwrap().unwrap_err().contains("illegal wireType 3"));
        assert!(fields(&[0x00, 0x00]).next().unwrap().is_err());
    }
}
