//! Bytes that are dropped in the order in which they were added.
//!
//! They are stored in large chunks: small allocations that stay for minutes among short-lived ones would otherwise
//! prevent the memory around them from being returned to the system.

use std::collections::VecDeque;

/// A chunk has its own pages, which are returned after it is dropped; see decision 0062. The part that is not written takes no memory.
const CHUNK_BYTES: usize = 256 << 10;

#[derive(Debug, Default)]
pub(crate) struct ByteLog {
    chunks: VecDeque<Vec<u8>>,
    /// The number of the first chunk.
    first: usize,
}

/// The position of some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    chunk: usize,
    start: u32,
    length: u32,
}

impl ByteLog {
    /// Adds bytes, at most as many as a chunk has.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Span {
        assert!(bytes.len() <= CHUNK_BYTES, "only small values are kept in chunks");
        let has_room = self.chunks.back().is_some_and(|last| CHUNK_BYTES - last.len() >= bytes.len());
        if !has_room {
            self.chunks.push_back(Vec::with_capacity(CHUNK_BYTES));
        }
        let number = self.first + self.chunks.len() - 1;
        let chunk = self.chunks.back_mut().expect("the last chunk has space");
        let start = chunk.len();
        chunk.extend_from_slice(bytes);
        let position = |bytes: usize| u32::try_from(bytes).expect("a chunk is small");
        Span { chunk: number, start: position(start), length: position(bytes.len()) }
    }

    pub(crate) fn get(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        &self.chunks[span.chunk - self.first][start..start + span.len()]
    }

    /// Drops the chunks before these bytes; all chunks if there are none.
    pub(crate) fn drop_before(&mut self, span: Option<Span>) {
        let chunks = span.map_or(self.chunks.len(), |span| span.chunk - self.first);
        self.chunks.drain(..chunks);
        self.first += chunks;
    }
}

impl Span {
    pub(crate) fn len(self) -> usize {
        self.length as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_dropped_when_nothing_of_them_is_needed() {
        let mut log = ByteLog::default();
        let spans: Vec<_> = (0..100_u8).map(|number| log.push(&vec![number; 100_000])).collect();
        assert_eq!(log.chunks.len(), 50);
        log.drop_before(Some(spans[50]));
        assert_eq!(log.chunks.len(), 25);
        for (number, span) in (50..100).zip(&spans[50..]) {
            assert!(log.get(*span).iter().all(|byte| *byte == number));
        }
        log.drop_before(None);
        assert!(log.chunks.is_empty());
        let span = log.push(b"again");
        assert_eq!(log.get(span), b"again");
    }
}
