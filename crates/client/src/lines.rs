//! The events of a watch, not decoded: lines of JSON, or frames of protobuf.

use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};

use crate::error::RequestError;

/// The length of the prefix of a frame, which is the length of the frame in network order.
const PREFIX: usize = 4;

/// How many bytes are searched at once for the end of a line.
const BLOCK: usize = 128;

/// The events of a watch in a stream of bytes.
pub struct WatchLines {
    stream: BoxStream<'static, Result<Bytes, RequestError>>,
    /// Bytes that have arrived and were not returned yet.
    buffer: Bytes,
    /// Whether the events are frames of protobuf.
    pub is_protobuf: bool,
    /// The warnings of the response.
    pub warnings: Vec<String>,
}

impl WatchLines {
    pub(crate) fn new(
        stream: impl Stream<Item = Result<Bytes, RequestError>> + Send + 'static,
        is_protobuf: bool,
        warnings: Vec<String>,
    ) -> Self {
        Self { stream: stream.boxed(), buffer: Bytes::new(), is_protobuf, warnings }
    }

    /// A watch that ended before its first line.
    pub fn ended() -> Self {
        Self::new(futures::stream::empty(), false, Vec::new())
    }

    /// The next line or frame; `None` at the end. An incomplete last one is dropped: it will be sent again.
    ///
    /// It is a part of the bytes that arrived; only an event that arrives in several parts is copied.
    pub async fn next(&mut self) -> Option<Result<Bytes, RequestError>> {
        if let Some(event) = self.take_first(0) {
            return Some(Ok(event));
        }
        let mut parts = BytesMut::new();
        loop {
            let arrived = match self.stream.next().await? {
                Ok(arrived) => arrived,
                Err(error) => return Some(Err(error)),
            };
            let before = self.buffer.len() + parts.len();
            if before == 0 {
                self.buffer = arrived;
            } else {
                parts.extend_from_slice(&std::mem::take(&mut self.buffer));
                parts.extend_from_slice(&arrived);
                if self.first_end(&parts, before).is_none() {
                    continue;
                }
                self.buffer = std::mem::take(&mut parts).freeze();
            }
            if let Some(event) = self.take_first(before) {
                return Some(Ok(event));
            }
        }
    }

    fn take_first(&mut self, scanned: usize) -> Option<Bytes> {
        let end = self.first_end(&self.buffer, scanned)?;
        let whole = self.buffer.split_to(end);
        Some(if self.is_protobuf { whole.slice(PREFIX..) } else { whole })
    }

    /// Where the first event ends, if it is complete. The first `scanned` bytes have no end of a line.
    fn first_end(&self, bytes: &[u8], scanned: usize) -> Option<usize> {
        if self.is_protobuf {
            let length = u32::from_be_bytes(*bytes.first_chunk::<PREFIX>()?);
            let end = PREFIX + usize::try_from(length).ok()?;
            return (end <= bytes.len()).then_some(end);
        }
        // Whole blocks are searched many bytes at a time.
        let block = bytes[scanned..].chunks(BLOCK).position(|block| block.contains(&b'\n'))?;
        let start = scanned + block * BLOCK;
        let end = bytes[start..].iter().position(|byte| *byte == b'\n')?;
        Some(start + end + 1)
    }
}

impl std::fmt::Debug for WatchLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WatchLines").field("buffered", &self.buffer.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch<const N: usize>(parts: [&'static [u8]; N], is_protobuf: bool) -> WatchLines {
        let parts = futures::stream::iter(parts.map(|part| Ok(Bytes::from_static(part))));
        WatchLines::new(parts, is_protobuf, Vec::new())
    }

    #[tokio::test]
    async fn lines_are_assembled_across_chunks() {
        let parts: [&[u8]; 6] = [b"{\"a\"", b":1}\n{\"b\":2}\n{\"c", b"\"", b":3", b"}\n", b"{\"cut"];
        let mut lines = watch(parts, false);
        for want in ["{\"a\":1}\n", "{\"b\":2}\n", "{\"c\":3}\n"] {
            assert_eq!(lines.next().await.unwrap().unwrap(), want);
        }
        assert!(lines.next().await.is_none(), "an incomplete line is dropped");
    }

    #[tokio::test]
    async fn frames_are_assembled_across_chunks() {
        let parts: [&[u8]; 7] =
            [b"\0\0\0\x01a\0\0\0\x02bc", b"\0\0", b"\0\x03", b"d\ne", b"\0\0\0\0", b"\0\0\0\x01", b"fcut"];
        let mut frames = watch(parts, true);
        for want in ["a", "bc", "d\ne", "", "f"] {
            assert_eq!(frames.next().await.unwrap().unwrap(), want);
        }
        assert!(frames.next().await.is_none(), "an incomplete frame is dropped");
    }
}
