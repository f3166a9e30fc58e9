//! Frames of HTTP/2 as bytes, valid or not, and a reader that finds the status of responses.

/// The first bytes that a client sends.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// The bytes of a frame before its payload.
pub(crate) const FRAME_HEAD_BYTES: usize = 9;

/// HPACK's static entry `:status: 500`.
const STATUS_500: u8 = 0x80 | 0x0e;

/// Returns a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns the preface with settings: pairs of identifier and value.
pub(crate) fn preface(settings: &[(u16, u32)]) -> Vec<u8> {
    [PREFACE.to_vec(), frame(SETTINGS, 0, 0, &encode_settings(settings))].concat()
}

/// Returns the payload of a SETTINGS frame.
pub(crate) fn encode_settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let encoded =
        settings.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()[..]].concat());
    encoded.collect()
}

/// Encodes headers as HPACK literals, without a table and without Huffman codes.
pub(crate) fn encode_headers(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in headers {
        bytes.push(0);
        encode_text(name, &mut bytes);
        encode_text(value, &mut bytes);
    }
    bytes
}

fn encode_text(text: &str, bytes: &mut Vec<u8>) {
    const PREFIX_MAX: usize = 127;
    let mut left = text.len();
    if left < PREFIX_MAX {
        bytes.push(u8::try_from(left).unwrap_or(0));
    } else {
        bytes.push(127);
        left -= PREFIX_MAX;
        while left >= 128 {
            bytes.push(u8::try_from(left % 128).unwrap_or(0) | 128);
            left /= 128;
        }
        bytes.push(u8::try_from(left).unwrap_or(0));
    }
    bytes.extend_from_slice(text.as_bytes());
}

/// Counts the responses with status 500 in a stream of frames that is received in pieces.
#[derive(Debug, Default)]
pub(crate) struct StatusReader {
    pending: Vec<u8>,
    skip: usize,
    pub(crate) internal_errors: usize,
}

impl StatusReader {
    /// Adds the next bytes of the stream.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        self.pending.extend_from_slice(&bytes[skipped..]);
        // One byte of the payload is sufficient: h2 sends the status first, and indexes the common ones.
        while self.pending.len() > FRAME_HEAD_BYTES {
            let head = &self.pending[..FRAME_HEAD_BYTES];
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            if head[3] == HEADERS && length > 0 && self.pending[FRAME_HEAD_BYTES] == STATUS_500 {
                self.internal_errors += 1;
            }
            let end = FRAME_HEAD_BYTES + length;
            self.skip = end.saturating_sub(self.pending.len());
            self.pending.drain(..end.min(self.pending.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_its_length_kind_flags_and_stream() {
        assert_eq!(frame(PING, 1, 3, b"ab"), [0, 0, 2, 6, 1, 0, 0, 0, 3, b'a', b'b']);
        assert_eq!(encode_settings(&[(4, 0)]), [0, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn long_texts_have_a_length_of_several_bytes() {
        assert_eq!(encode_headers(&[("a", "b")]), [0, 1, b'a', 1, b'b']);
        // 300 = 127 + 173, and 173 = 45 + 1 * 128.
        let encoded = encode_headers(&[("a", &"x".repeat(300))]);
        assert_eq!(encoded[3..6], [127, 45 + 128, 1]);
    }

    #[test]
    fn internal_errors_are_counted_however_the_stream_is_cut() {
        let stream = [
            frame(SETTINGS, 0, 0, &[]),
            frame(HEADERS, END_HEADERS, 1, &[0x88]),
            frame(HEADERS, END_HEADERS, 3, &[STATUS_500, 1, 2]),
            frame(DATA, END_STREAM, 3, &[HEADERS; 40]),
            frame(HEADERS, END_HEADERS, 5, &[STATUS_500]),
            frame(PING, 0, 0, &[0; 8]),
        ]
        .concat();
        for size in [1, 2, 7, 100] {
            let mut reader = StatusReader::default();
            stream.chunks(size).for_each(|piece| reader.take(piece));
            assert_eq!(reader.internal_errors, 2, "in pieces of {size}");
        }
    }
}
