//! Channels as readers and writers, for code that blocks: `tar` archives.

use std::io::{self, Read, Write};

use tokio::sync::mpsc;

/// The size of chunks that are written.
const CHUNK_BYTES: usize = 32 << 10;

/// Writes to a channel. Only for threads that may block.
pub(super) struct ChannelWriter {
    chunks: mpsc::Sender<Vec<u8>>,
    chunk: Vec<u8>,
}

/// Reads from a channel. Only for threads that may block.
pub(super) struct ChannelReader {
    chunks: mpsc::Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl ChannelWriter {
    pub(super) fn new(chunks: mpsc::Sender<Vec<u8>>) -> Self {
        Self { chunks, chunk: Vec::new() }
    }
}

impl Write for ChannelWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::take(&mut self.chunk);
        self.chunks.blocking_send(chunk).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl ChannelReader {
    pub(super) fn new(chunks: mpsc::Receiver<Vec<u8>>) -> Self {
        Self { chunks, chunk: Vec::new(), at: 0 }
    }
}

impl Read for ChannelReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            match self.chunks.blocking_recv() {
                Some(chunk) => (self.chunk, self.at) = (chunk, 0),
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.chunk.len() - self.at);
        buffer[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
