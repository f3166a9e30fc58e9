//! Encodes objects in chunks, as they are sent, so that a client that does not read costs little memory.
//!
//! The rest of an object in our own layout belongs to the store and is copied chunk by chunk. Any other large encoding
//! counts as an unsent response.

use std::sync::Arc;

use bytes::Bytes;
use gantry_schema::encode::{self, TypeMeta};
use gantry_schema::kinds::Kind;
use gantry_store::Item;

use crate::error::ApiError;
use crate::heavy_work::{HEAVY_BYTES, off_worker_if_heavy};
use crate::storage_codec;
use crate::unsent_responses::{LargeBody, UnsentResponses};

/// The size of a chunk, as in a record of TLS. Each of thousands of streams that are not read has one.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;

/// The size of an object beyond its stored bytes: its version and a comma.
pub(crate) const VERSION_BYTES: usize = 48;

/// The next chunk of a body, and the bytes after it.
pub(crate) struct ChunkBuffer {
    unsent: Arc<UnsentResponses>,
    chunk: Vec<u8>,
    rest: Rest,
    /// The bytes after the rest.
    end: &'static [u8],
}

/// Bytes that were pushed and are not in the chunk yet.
enum Rest {
    Nothing,
    /// A part of the stored bytes.
    Stored(Bytes),
    Counted(LargeBody),
}

/// Whether an object is large and has to be decoded.
pub(crate) fn is_heavy(kind: &Kind, item: &Item) -> bool {
    item.value.len() > HEAVY_BYTES && storage_codec::needs_decoding(kind, &item.value)
}

impl ChunkBuffer {
    pub(crate) fn new(unsent: &Arc<UnsentResponses>) -> Self {
        Self { unsent: Arc::clone(unsent), chunk: Vec::new(), rest: Rest::Nothing, end: b"" }
    }

    /// The chunk, to append a few bytes.
    pub(crate) fn chunk(&mut self) -> &mut Vec<u8> {
        &mut self.chunk
    }

    /// Appends a stored object, and `end` after it. All bytes pushed before must be in the chunk.
    pub(crate) fn push_stored(
        &mut self,
        kind: &Kind,
        item: &Item,
        type_meta: TypeMeta,
        end: &'static [u8],
    ) -> Result<(), ApiError> {
        let (is_decoded, chunk) = (storage_codec::needs_decoding(kind, &item.value), &mut self.chunk);
        chunk.reserve(CHUNK_BYTES.saturating_sub(chunk.len()));
        let decoded_bytes = if is_decoded { item.value.len() } else { 0 };
        let rest = off_worker_if_heavy(decoded_bytes, || {
            storage_codec::write_start(kind, &item.value, item.revision, type_meta, chunk)
        })?;
        self.end = end;
        if is_decoded {
            return self.push_encoded(rest);
        }
        self.rest = Rest::Stored(rest);
        Ok(())
    }

    /// Appends a stored object as an element of a list in YAML. All bytes pushed before must be in the chunk.
    pub(crate) fn push_yaml_element(&mut self, kind: &Kind, item: &Item) -> Result<(), ApiError> {
        let yaml = off_worker_if_heavy(item.value.len(), || {
            let mut json = Vec::with_capacity(item.value.len() + VERSION_BYTES);
            storage_codec::write(kind, &item.value, item.revision, TypeMeta::LeftOut, &mut json)?;
            encode::yaml_element(&json)
                .ok_or_else(|| ApiError::unclassified("an object cannot be written as YAML"))
        })?;
        self.push_encoded(yaml.into())
    }

    /// Appends bytes. All bytes pushed before must be in the chunk. Refuses large ones if too much is unsent.
    pub(crate) fn push_encoded(&mut self, bytes: Bytes) -> Result<(), ApiError> {
        self.rest = if bytes.len() <= CHUNK_BYTES {
            Rest::Stored(bytes)
        } else {
            Rest::Counted(self.unsent.body(bytes).ok_or(ApiError::TooManyRequests)?)
        };
        Ok(())
    }

    /// Moves pushed bytes to the chunk; returns whether the chunk is full. Fails if the client has not read for too long.
    pub(crate) fn fill(&mut self) -> Result<bool, ApiError> {
        while self.chunk.len() < CHUNK_BYTES {
            match &mut self.rest {
                Rest::Nothing => return Ok(false),
                Rest::Stored(rest) if !rest.is_empty() => {
                    let length = rest.len().min(CHUNK_BYTES - self.chunk.len());
                    self.chunk.extend_from_slice(&rest.split_to(length));
                }
                Rest::Counted(body) if !body.is_sent() => {
                    let next = body.next_chunk().ok_or(ApiError::TooManyRequests)?;
                    self.chunk.extend_from_slice(&next);
                }
                Rest::Stored(_) | Rest::Counted(_) => {
                    self.rest = Rest::Nothing;
                    self.chunk.extend_from_slice(std::mem::take(&mut self.end));
                }
            }
        }
        Ok(true)
    }

    /// Takes the chunk.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use gantry_schema::kinds::kinds;
    use gantry_store::{Key, Revision};

    use super::*;

    fn buffer() -> ChunkBuffer {
        ChunkBuffer::new(&Arc::new(UnsentResponses::new(1 << 20)))
    }

    fn drain(buffer: &mut ChunkBuffer) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let is_full = buffer.fill().unwrap();
            let chunk = buffer.take();
            assert!(chunk.len() <= 2 * CHUNK_BYTES, "chunks are small, whatever the objects are");
            all.extend_from_slice(&chunk);
            if !is_full {
                return all;
            }
        }
    }

    #[test]
    fn a_large_object_is_cut_into_chunks() {
        let text = "x".repeat(300_000);
        let ours = format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"a"}},"data":{{"k":"{text}"}}}}"#
        );
        let foreign = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"data":{{"k":"{text}"}}}}"#
        );
        let maps = kinds().resource("", "v1", "configmaps").unwrap();
        for stored in [ours, foreign] {
            let item = Item {
                key: Key::new("a").unwrap(),
                value: stored.into(),
                revision: Revision::new(7).unwrap(),
            };
            let mut buffer = buffer();
            buffer.push_stored(maps, &item, TypeMeta::LeftOut, b"\n").unwrap();
            let expected = format!(
                "{{\"metadata\":{{\"name\":\"a\",\"resourceVersion\":\"7\"}},\"data\":{{\"k\":\"{text}\"}}}}\n"
            );
            assert!(drain(&mut buffer) == expected.as_bytes());
        }
    }

    /// Encodings that the store does not share are limited in total.
    #[test]
    fn large_encodings_are_refused_when_too_much_is_unsent() {
        let mut first = buffer();
        first.push_encoded(vec![1; 900_000].into()).unwrap();
        let mut second = ChunkBuffer::new(&first.unsent);
        assert!(second.push_encoded(vec![2; 900_000].into()).is_err());
        second.push_encoded(vec![2; 1000].into()).unwrap();
        assert_eq!(drain(&mut first).len(), 900_000);
        second.push_encoded(vec![2; 900_000].into()).unwrap();
    }
}
