//! Writes DER, as far as it is needed to sign a certificate whose subject and key are copied from a request.

/// Encodes a value with its tag and its length.
pub(crate) fn tagged(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut encoded = vec![tag];
    if length < 0x80 {
        encoded.push(u8::try_from(length).unwrap_or_default());
    } else {
        let bytes = length.to_be_bytes();
        let used = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap_or(0)..];
        encoded.push(0x80 | u8::try_from(used.len()).unwrap_or_default());
        encoded.extend_from_slice(used);
    }
    for part in parts {
        encoded.extend_from_slice(part);
    }
    encoded
}

/// A sequence of encoded values.
pub(crate) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(0x30, parts)
}

/// An integer that is not negative, from big-endian bytes.
pub(crate) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len().saturating_sub(1));
    let used = &bytes[start..];
    let needs_zero = used.first().is_none_or(|first| first & 0x80 != 0);
    tagged(0x02, &[if needs_zero { &[0] } else { &[] }, used])
}

/// A string of whole bytes, without unused bits.
pub(crate) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    tagged(0x03, &[&[0], bytes])
}

/// An object identifier, already encoded.
pub(crate) fn oid(encoded: &[u8]) -> Vec<u8> {
    tagged(0x06, &[encoded])
}

/// An extension of a certificate.
pub(crate) fn extension(id: &[u8], is_critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if is_critical { &[0x01, 0x01, 0xff] } else { &[] };
    sequence(&[&oid(id), critical, &tagged(0x04, &[value])])
}
