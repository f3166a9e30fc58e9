//! The lines of a watch.

use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};

use crate::error::RequestError;

/// The lines of a stream of bytes.
pub struct WatchLines {
    stream: BoxStream<'static, Result<Bytes, RequestError>>,
    buffer: BytesMut,
    /// The warnings of the response.
    pub warnings: Vec<String>,
}

impl WatchLines {
    pub(crate) fn new(
        stream: impl Stream<Item = Result<Bytes, RequestError>> + Send + 'static,
        warnings: Vec<String>,
    ) -> Self {
        Self { stream: stream.boxed(), buffer: BytesMut::new(), warnings }
    }

    /// A watch that ended before its first line.
    pub fn ended() -> Self {
        Self::new(futures::stream::empty(), Vec::new())
    }

    /// The next line; `None` at the end. An incomplete last line is dropped: it will be sent again.
    pub async fn next(&mut self) -> Option<Result<Bytes, RequestError>> {
        let mut scanned = 0;
        loop {
            if let Some(end) = self.buffer[scanned..].iter().position(|byte| *byte == b'\n') {
                return Some(Ok(self.buffer.split_to(scanned + end + 1).freeze()));
            }
            scanned = self.buffer.len();
            match self.stream.next().await? {
                Ok(bytes) => self.buffer.extend_from_slice(&bytes),
                Err(error) => return Some(Err(error)),
            }
        }
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

    #[tokio::test]
    async fn lines_are_put_together_however_they_arrive() {
        let parts = ["{\"a\"", ":1}\n{\"b\":2}\n{\"c", "\":3}\n", "{\"cut"];
        let mut lines =
            WatchLines::new(futures::stream::iter(parts.map(|part| Ok(Bytes::from(part)))), Vec::new());
        for want in ["{\"a\":1}\n", "{\"b\":2}\n", "{\"c\":3}\n"] {
            assert_eq!(lines.next().await.unwrap().unwrap(), want);
        }
        assert!(lines.next().await.is_none(), "half a line is no line");
    }
}
