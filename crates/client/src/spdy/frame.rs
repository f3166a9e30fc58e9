//! The frames of SPDY/3.1, as far as a client of streams needs them. Pure.
//!
//! Header blocks are sent in a zlib stream without compression, with the dictionary of SPDY announced but not used.
//! Header blocks of the server are skipped: a client of `exec`, `attach` or `portforward` does not need them.

/// A frame of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Data of a stream, and whether the stream ends with it.
    Data { stream: u32, is_last: bool, data: Vec<u8> },
    /// The server accepts a stream, and whether it sends nothing on it.
    Reply { stream: u32, is_last: bool },
    /// A stream is aborted.
    Reset { stream: u32 },
    /// A ping, which must be sent back.
    Ping(u32),
    /// The server accepts no more streams.
    GoAway,
    /// Anything else.
    Other,
}

const LAST: u8 = 1;
const CONTROL: u16 = 0x8000;
const VERSION: u16 = 3;
const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GO_AWAY: u16 = 7;
const HEAD_BYTES: usize = 8;
/// The most bytes in a frame.
pub(crate) const LENGTH_MAX: usize = (1 << 24) - 1;
/// The status with which the side that opened a stream cancels it.
const CANCEL: u32 = 5;
/// The header of a zlib stream with a dictionary, and the checksum of the dictionary of SPDY/3.
const ZLIB_HEADER: [u8; 6] = [0x78, 0x20, 0xe3, 0xc6, 0xa7, 0xc2];
/// An empty block, after which the receiver has everything that was sent before.
const ZLIB_FLUSH: [u8; 5] = [0, 0, 0, 0xff, 0xff];

/// Encodes frames; the encoding depends on the frames before.
#[derive(Debug, Default)]
pub(crate) struct FrameEncoder {
    has_sent_headers: bool,
}

impl FrameEncoder {
    /// Opens a stream with headers, whose names are in lower case.
    pub(crate) fn open(&mut self, stream: u32, headers: &[(&str, &str)]) -> Vec<u8> {
        let mut block = be32(headers.len());
        for (name, value) in headers {
            for text in [name, value] {
                block.extend(be32(text.len()));
                block.extend_from_slice(text.as_bytes());
            }
        }
        let mut body = stream.to_be_bytes().to_vec();
        // No associated stream, priority 0, no slot.
        body.extend_from_slice(&[0; 6]);
        if !std::mem::replace(&mut self.has_sent_headers, true) {
            body.extend_from_slice(&ZLIB_HEADER);
        }
        for part in block.chunks(usize::from(u16::MAX)) {
            let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
            body.push(0);
            body.extend_from_slice(&length.to_le_bytes());
            body.extend_from_slice(&(!length).to_le_bytes());
            body.extend_from_slice(part);
        }
        body.extend_from_slice(&ZLIB_FLUSH);
        control(SYN_STREAM, &body)
    }
}

/// Data of a stream; `is_last` ends the stream.
pub(crate) fn data(stream: u32, is_last: bool, data: &[u8]) -> Vec<u8> {
    let mut frame = (stream & 0x7fff_ffff).to_be_bytes().to_vec();
    frame.extend(flags_and_length(if is_last { LAST } else { 0 }, data.len()));
    frame.extend_from_slice(data);
    frame
}

/// Aborts a stream.
pub(crate) fn reset(stream: u32) -> Vec<u8> {
    control(RST_STREAM, &[stream.to_be_bytes(), CANCEL.to_be_bytes()].concat())
}

/// The response to a ping.
pub(crate) fn ping(id: u32) -> Vec<u8> {
    control(PING, &id.to_be_bytes())
}

/// The length of the frame that begins with these bytes; `None` if it is not known yet.
pub(crate) fn frame_length(bytes: &[u8]) -> Option<usize> {
    let head: &[u8; HEAD_BYTES] = bytes.first_chunk()?;
    let length = u32::from_be_bytes([0, head[5], head[6], head[7]]);
    Some(HEAD_BYTES + usize::try_from(length).ok()?)
}

/// Decodes a whole frame.
pub(crate) fn decode(frame: &[u8]) -> Frame {
    let Some((head, body)) = frame.split_first_chunk::<HEAD_BYTES>() else { return Frame::Other };
    let first = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
    let is_last = head[4] & LAST != 0;
    let kind = u16::from_be_bytes([head[0], head[1]]);
    if kind & CONTROL == 0 {
        return Frame::Data { stream: first, is_last, data: body.to_vec() };
    }
    let id = || body.first_chunk().map(|id| u32::from_be_bytes(*id) & 0x7fff_ffff);
    match (u16::from_be_bytes([head[2], head[3]]), id()) {
        (SYN_REPLY, Some(stream)) => Frame::Reply { stream, is_last },
        (RST_STREAM, Some(stream)) => Frame::Reset { stream },
        (PING, Some(_)) => Frame::Ping(body.first_chunk().map_or(0, |id| u32::from_be_bytes(*id))),
        (GO_AWAY, _) => Frame::GoAway,
        _ => Frame::Other,
    }
}

fn control(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = (CONTROL | VERSION).to_be_bytes().to_vec();
    frame.extend_from_slice(&kind.to_be_bytes());
    frame.extend(flags_and_length(0, body.len()));
    frame.extend_from_slice(body);
    frame
}

fn be32(number: usize) -> Vec<u8> {
    u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes().to_vec()
}

fn flags_and_length(flags: u8, length: usize) -> [u8; 4] {
    let [_, high, middle, low] = u32::try_from(length.min(LENGTH_MAX)).unwrap_or(0).to_be_bytes();
    [flags, high, middle, low]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frame equals what spdystream, the implementation of Kubernetes, sends for the same stream, except for the
    /// compression of headers.
    #[test]
    fn a_stream_is_opened_with_its_headers() {
        let mut encoder = FrameEncoder::default();
        let frame = encoder.open(1, &[("streamtype", "error")]);
        let block = b"\0\0\0\x01\0\0\0\x0astreamtype\0\0\0\x05error";
        let mut expected = vec![0x80, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        expected.extend_from_slice(&ZLIB_HEADER);
        expected.extend_from_slice(&[0, 27, 0, 228, 255]);
        expected.extend_from_slice(block);
        expected.extend_from_slice(&ZLIB_FLUSH);
        expected[7] = u8::try_from(expected.len() - 8).unwrap();
        assert_eq!(frame, expected);
        assert_eq!(frame_length(&frame), Some(frame.len()));
        let next = encoder.open(3, &[("streamtype", "error")]);
        assert_eq!(next.len(), frame.len() - ZLIB_HEADER.len(), "the stream of headers begins once");
    }

    #[test]
    fn frames_of_the_server_are_read() {
        assert_eq!(
            decode(&data(3, true, b"x")),
            Frame::Data { stream: 3, is_last: true, data: b"x".to_vec() }
        );
        assert_eq!(decode(&reset(5)), Frame::Reset { stream: 5 });
        assert_eq!(decode(&ping(2)), Frame::Ping(2));
        assert_eq!(
            decode(&[0x80, 3, 0, 2, 1, 0, 0, 4, 0, 0, 0, 7]),
            Frame::Reply { stream: 7, is_last: true }
        );
        assert_eq!(decode(&[0x80, 3, 0, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]), Frame::GoAway);
        for broken in [&[][..], &[0x80, 3, 0, 2, 0, 0, 0, 0], &[0x80, 3, 0, 99, 0, 0, 0, 0]] {
            assert_eq!(decode(broken), Frame::Other);
        }
        assert_eq!(frame_length(&[0, 0, 0, 1, 0, 1, 0]), None);
        assert_eq!(frame_length(&[0, 0, 0, 1, 0, 1, 0, 2]), Some(0x0001_0002 + 8));
    }
}
