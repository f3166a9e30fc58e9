//! UUIDs in text, as uids of objects are.

/// Prints 16 bytes as a UUID of a version, with the variant of RFC 9562. Both replace six bits of the bytes.
pub fn encode(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes.into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.extend(
            [byte >> 4, byte & 15].map(|nibble| char::from(b"0123456789abcdef"[usize::from(nibble)])),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_variant_have_their_places() {
        assert_eq!(encode([0xff; 16], 4), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(encode([0; 16], 8), "00000000-0000-8000-8000-000000000000");
    }
}
