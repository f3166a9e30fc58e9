//! Base64 as Go reads and writes it: padded with the standard alphabet in JSON, without padding and with the URL alphabet
//! in tokens.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes bytes with the standard alphabet and padding.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = encode_with(bytes, STANDARD);
    let padding = text.len().next_multiple_of(4) - text.len();
    text.extend(std::iter::repeat_n('=', padding));
    text
}

/// Encodes bytes with the URL alphabet, without padding.
pub fn encode_url(bytes: &[u8]) -> String {
    encode_with(bytes, URL)
}

/// Decodes padded text of the standard alphabet, ignoring line breaks. The error is Go's offset of the first wrong byte.
pub fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut letters, mut padding) = (0_u32, 0, 0);
    let mut begin = 0;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, sextet(byte, STANDARD)) {
            (b'\r' | b'\n', _) => {}
            (b'=', _) if letters >= 2 && letters + padding < 4 => padding += 1,
            (_, Some(six)) if padding == 0 => {
                group = group << 6 | six;
                letters += 1;
                if letters == 4 {
                    begin = at + 1;
                    bytes.extend_from_slice(&group.to_be_bytes()[1..]);
                    (group, letters) = (0, 0);
                }
            }
            _ => return Err(at),
        }
    }
    match (letters, padding) {
        (0, 0) | (2, 2) | (3, 1) => push_partial(&mut bytes, group, letters),
        // A group that ends too early is wrong from its beginning, one that is padded too little at its end.
        (_, 0) => return Err(begin),
        _ => return Err(text.len()),
    }
    Ok(bytes)
}

/// Decodes unpadded text of the URL alphabet; `None` if it is malformed.
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0;
        for byte in chunk {
            group = group << 6 | sextet(*byte, URL)?;
        }
        match chunk.len() {
            1 => return None,
            4 => bytes.extend_from_slice(&group.to_be_bytes()[1..]),
            letters => push_partial(&mut bytes, group, letters),
        }
    }
    Some(bytes)
}

fn encode_with(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..=chunk.len() {
            let six = (group >> (18 - 6 * place)) & 63;
            text.push(char::from(alphabet[six as usize]));
        }
    }
    text
}

/// Adds the bytes of a last group of two or three letters.
fn push_partial(bytes: &mut Vec<u8>, group: u32, letters: usize) {
    match letters {
        2 => bytes.push((group << 12).to_be_bytes()[1]),
        3 => bytes.extend_from_slice(&(group << 6).to_be_bytes()[1..3]),
        _ => {}
    }
}

fn sextet(letter: u8, alphabet: &[u8; 64]) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        _ if letter == alphabet[62] => 62,
        _ if letter == alphabet[63] => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_padded_to_groups_of_four() {
        let texts = ["", "a", "ab", "abc", "over"].map(|text| encode(text.as_bytes()));
        assert_eq!(texts, ["", "YQ==", "YWI=", "YWJj", "b3Zlcg=="]);
        assert_eq!(encode_url(&[0, 1, 2, 255]), "AAEC_w");
    }

    #[test]
    fn encoded_bytes_are_decoded_to_themselves() {
        for length in 0..20_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(89)).collect();
            assert_eq!(decode(&encode(&bytes)).as_ref(), Ok(&bytes));
            assert_eq!(decode_url(&encode_url(&bytes)), Some(bytes));
        }
        assert_eq!(encode(&[0, 1, 2, 255]), "AAEC/w==");
        assert_eq!(decode("AA\nEC\n/w=="), Ok(vec![0, 1, 2, 255]));
    }

    /// A2.12: invalid base64 is refused with Go's offset.
    #[test]
    fn errors_have_gos_offset() {
        assert_eq!(decode("not base64"), Err(3));
        assert_eq!(decode("AAE"), Err(0));
        assert_eq!(decode("AAECAAE"), Err(4));
        assert_eq!(decode("AA="), Err(3));
        assert_eq!(decode("AA=="), Ok(vec![0]));
        assert_eq!(decode("A==="), Err(1));
        assert_eq!(decode("AA==AA=="), Err(4));
        for text in ["A", "AA==", "A+", "A/", "AAAAé"] {
            assert_eq!(decode_url(text), None, "{text}");
        }
    }
}
