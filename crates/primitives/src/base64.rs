//! Base64 in JSON: the standard alphabet, padded, line breaks ignored.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let six = (group >> (18 - 6 * place)) & 63;
            let letter = if place <= chunk.len() { char::from(ALPHABET[six as usize]) } else { '=' };
            text.push(letter);
        }
    }
    text
}

/// Decodes text; the error is the offset of the first invalid byte.
pub fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut letters, mut padding) = (0_u32, 0, 0);
    let mut begin = 0;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, sextet(byte)) {
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
        (0, 0) => {}
        (2, 2) => bytes.push((group << 12).to_be_bytes()[1]),
        (3, 1) => bytes.extend_from_slice(&(group << 6).to_be_bytes()[1..3]),
        // An incomplete group is invalid at its start, one with too little padding at its end.
        (_, 0) => return Err(begin),
        _ => return Err(text.len()),
    }
    Ok(bytes)
}

fn sextet(letter: u8) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_went() {
        for length in 0..20_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(89)).collect();
            assert_eq!(decode(&encode(&bytes)), Ok(bytes));
        }
        assert_eq!(encode(&[0, 1, 2, 255]), "AAEC/w==");
        assert_eq!(decode("AA\nEC\n/w=="), Ok(vec![0, 1, 2, 255]));
    }

    /// A2.12: invalid base64 is refused with its offset.
    #[test]
    fn what_is_no_base64_is_refused_by_its_place() {
        assert_eq!(decode("not base64"), Err(3));
        assert_eq!(decode("AAE"), Err(0));
        assert_eq!(decode("AAECAAE"), Err(4));
        assert_eq!(decode("AA="), Err(3));
        assert_eq!(decode("AA=="), Ok(vec![0]));
        assert_eq!(decode("A==="), Err(1));
        assert_eq!(decode("AA==AA=="), Err(4));
    }
}
