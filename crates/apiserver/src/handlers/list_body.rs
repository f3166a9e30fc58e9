//! The body of a large list: encoded while it is sent, from the bytes in the store, so that a client that does not read costs
//! no memory.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use gantry_json::{Value, json};
use gantry_schema::encode::{self, TypeMeta};
use gantry_schema::kinds::{Kind, Nature};
use gantry_store::Item;
use http::header::{CONTENT_ENCODING, VARY};

use super::read::ListedObjects;
use crate::error::ApiError;
use crate::heavy_work::off_worker_if_heavy;
use crate::response::{ApiResponse, Chunks};
use crate::storage_codec;

/// The size of a chunk before compression.
const CHUNK_BYTES: usize = 64 << 10;

/// A list that is being encoded.
struct ListBody {
    kind: Arc<Kind>,
    /// What is encoded and not sent: the start of the list first.
    pending: Vec<u8>,
    items: std::vec::IntoIter<Item>,
    is_first: bool,
    is_ended: bool,
    gzip: Option<GzEncoder<Vec<u8>>>,
}

/// Responds with a list.
pub(super) fn response(kind: &Arc<Kind>, found: ListedObjects, is_compressed: bool) -> ApiResponse {
    let mut pending = Vec::new();
    start(kind, &found.metadata, &mut pending);
    let response = ApiResponse::chunked_json(ListBody {
        kind: Arc::clone(kind),
        pending,
        items: found.items.into_iter(),
        is_first: true,
        is_ended: false,
        gzip: is_compressed.then(|| GzEncoder::new(Vec::new(), Compression::fast())),
    });
    if is_compressed {
        let response = response.with(CONTENT_ENCODING, "gzip".to_owned());
        return response.with(VARY, "Accept-Encoding".to_owned());
    }
    response
}

/// Writes a list, up to its items.
pub(super) fn start(kind: &Kind, metadata: &Value, out: &mut Vec<u8>) {
    let mut metadata = metadata.clone();
    if matches!(kind.nature, Nature::Custom(_)) && metadata["continue"].is_null() {
        // Lists of custom objects always have this field.
        metadata["continue"] = json!("");
    }
    encode::list_start(kind.list_kind, kind.api_version, &metadata, out);
}

impl ListBody {
    /// Encodes items until a chunk is full.
    fn fill(&mut self) -> Result<(), ApiError> {
        while self.pending.len() < CHUNK_BYTES {
            let Some(item) = self.items.next() else {
                self.is_ended = true;
                self.pending.extend_from_slice(b"]}\n");
                return Ok(());
            };
            if !std::mem::take(&mut self.is_first) {
                self.pending.push(b',');
            }
            let (kind, out) = (&self.kind, &mut self.pending);
            off_worker_if_heavy(item.value.len(), || {
                storage_codec::write(kind, &item.value, item.revision, TypeMeta::LeftOut, out)
            })?;
        }
        Ok(())
    }

    /// The next chunk as it is sent; empty if the compressor keeps it for now.
    fn chunk(&mut self) -> Vec<u8> {
        let plain = std::mem::take(&mut self.pending);
        let Some(gzip) = &mut self.gzip else { return plain };
        // Writing to a vector does not fail.
        let _ = off_worker_if_heavy(plain.len(), || gzip.write_all(&plain));
        if self.is_ended
            && let Some(gzip) = self.gzip.take()
        {
            return gzip.finish().unwrap_or_default();
        }
        self.gzip.as_mut().map(|gzip| std::mem::take(gzip.get_mut())).unwrap_or_default()
    }
}

impl Chunks for ListBody {
    fn poll_chunk(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        while !this.is_ended {
            if this.fill().is_err() {
                // An object in the store cannot be decoded: the client sees a list without end.
                this.is_ended = true;
                this.pending.clear();
            }
            let chunk = this.chunk();
            if !chunk.is_empty() {
                return Poll::Ready(Some(chunk.into()));
            }
        }
        Poll::Ready(None)
    }
}
