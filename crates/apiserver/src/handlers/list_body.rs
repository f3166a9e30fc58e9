//! The body of a large list: encoded while it is sent, from the bytes in the store, so that a client that does not read costs
//! no memory.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use gantry_json::{Value, json};
use gantry_schema::encode::{self, TypeMeta};
use gantry_schema::kinds::{Kind, Nature};
use gantry_store::Item;
use http::header::{CONTENT_ENCODING, VARY};

use super::call::Call;
use super::read::ListedObjects;
use crate::chunk_buffer::{self, ChunkBuffer};
use crate::error::ApiError;
use crate::heavy_work::{BodySlot, HEAVY_BYTES, HeavyWork};
use crate::response::{ApiResponse, Chunks};

/// A list that is being encoded.
struct ListBody {
    kind: Arc<Kind>,
    /// Bytes that are encoded and not sent: the start of the list first.
    buffer: ChunkBuffer,
    format: ListFormat,
    items: std::vec::IntoIter<Item>,
    /// The bytes after the items.
    end: Vec<u8>,
    is_first: bool,
    is_ended: bool,
    heavy_work: Arc<HeavyWork>,
    slot: BodySlot,
    gzip: Option<GzEncoder<Vec<u8>>>,
}

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListFormat {
    Json,
    Yaml,
}

/// Responds with a list, in YAML if the client requests that.
pub(super) fn response(call: &Call<'_>, found: ListedObjects) -> ApiResponse {
    let (kind, mut buffer) = (call.kind, ChunkBuffer::new(&call.server.unsent_responses));
    let (format, content_type) = if call.info.wants_yaml() {
        (ListFormat::Yaml, "application/yaml")
    } else {
        (ListFormat::Json, "application/json")
    };
    let end = match format {
        ListFormat::Json => {
            start(kind, &found.metadata, buffer.chunk());
            b"]}\n".to_vec()
        }
        ListFormat::Yaml => {
            let version = encode::yaml_text(&json!({"apiVersion": kind.api_version}));
            buffer.chunk().extend_from_slice(format!("{version}items:\n").as_bytes());
            let metadata = list_metadata(kind, &found.metadata);
            encode::yaml_text(&json!({"kind": kind.list_kind, "metadata": metadata})).into_bytes()
        }
    };
    let is_compressed = call.info.accepts_gzip();
    let response = ApiResponse::chunked(
        content_type,
        ListBody {
            kind: Arc::clone(kind),
            buffer,
            format,
            items: found.items.into_iter(),
            end,
            is_first: true,
            is_ended: false,
            heavy_work: Arc::clone(&call.server.heavy_work),
            slot: BodySlot::default(),
            gzip: is_compressed.then(|| GzEncoder::new(Vec::new(), Compression::fast())),
        },
    );
    if is_compressed {
        let response = response.with(CONTENT_ENCODING, "gzip".to_owned());
        return response.with(VARY, "Accept-Encoding".to_owned());
    }
    response
}

/// Writes a list, up to its items.
pub(super) fn start(kind: &Kind, metadata: &Value, out: &mut Vec<u8>) {
    encode::list_start(kind.list_kind, kind.api_version, &list_metadata(kind, metadata), out);
}

/// The metadata as lists of this kind have it.
fn list_metadata(kind: &Kind, metadata: &Value) -> Value {
    let mut metadata = metadata.clone();
    if matches!(kind.nature, Nature::Custom(_)) && metadata["continue"].is_null() {
        // Lists of custom objects always have this field.
        metadata["continue"] = json!("");
    }
    metadata
}

impl ListBody {
    /// Whether encoding the next item takes long.
    fn is_next_heavy(&self) -> bool {
        self.items.as_slice().first().is_some_and(|item| match self.format {
            ListFormat::Json => chunk_buffer::is_heavy(&self.kind, item),
            ListFormat::Yaml => item.value.len() > HEAVY_BYTES,
        })
    }

    /// Encodes items until a chunk is full; heavy ones only in a slot.
    fn fill(&mut self, has_slot: bool) -> Result<(), ApiError> {
        while !self.buffer.fill()? && (has_slot || !self.is_next_heavy()) {
            let Some(item) = self.items.next() else {
                self.is_ended = true;
                self.buffer.chunk().append(&mut self.end);
                return Ok(());
            };
            if self.format == ListFormat::Yaml {
                self.buffer.push_yaml_element(&self.kind, &item)?;
                continue;
            }
            if !std::mem::take(&mut self.is_first) {
                self.buffer.chunk().push(b',');
            }
            self.buffer.push_stored(&self.kind, &item, TypeMeta::LeftOut, b"")?;
        }
        Ok(())
    }

    /// The next chunk as it is sent; empty if the compressor keeps it for now.
    fn chunk(&mut self) -> Vec<u8> {
        let plain = self.buffer.take();
        let Some(gzip) = &mut self.gzip else { return plain };
        // Writing to a vector does not fail.
        let _ = gzip.write_all(&plain);
        if self.is_ended
            && let Some(gzip) = self.gzip.take()
        {
            return gzip.finish().unwrap_or_default();
        }
        self.gzip.as_mut().map(|gzip| std::mem::take(gzip.get_mut())).unwrap_or_default()
    }
}

impl Chunks for ListBody {
    fn poll_chunk(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        while !this.is_ended {
            let is_heavy = this.is_next_heavy();
            let slot = if is_heavy { Some(ready!(this.slot.poll(&this.heavy_work, context))) } else { None };
            if this.fill(slot.is_some()).is_err() {
                // An object in the store cannot be decoded, or too much is unsent: the client receives an incomplete
                // list.
                this.is_ended = true;
                this.buffer.chunk().clear();
            }
            let chunk = this.chunk();
            if !chunk.is_empty() {
                return Poll::Ready(Some(chunk.into()));
            }
        }
        Poll::Ready(None)
    }
}
