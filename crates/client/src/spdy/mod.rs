//! Streams over one connection: SPDY/3.1, which every kubelet and container runtime supports (decision 0050).

mod frame;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};

use frame::{Frame, FrameEncoder};

/// The maximum number of unread chunks of a stream. Beyond it reading pauses on the connection, for all its streams.
const CHUNKS_MAX: usize = 64;
/// The most bytes that are sent in a frame.
const CHUNK_BYTES: usize = 32 << 10;

/// A connection with streams. Cheap to clone; it ends when the last clone and the last stream are dropped.
#[derive(Clone)]
pub struct StreamConnection {
    shared: Arc<Shared>,
}

struct Shared {
    frames: mpsc::Sender<Vec<u8>>,
    state: Mutex<State>,
    is_closed: watch::Receiver<bool>,
}

#[derive(Default)]
struct State {
    encoder: FrameEncoder,
    opened: u32,
    /// The readers of the streams that the server has not finished.
    readers: BTreeMap<u32, mpsc::Sender<Bytes>>,
}

/// One stream. Data that arrive after its reader is dropped are discarded.
pub struct ByteStream {
    /// The data that the other side sends.
    pub reader: ByteReader,
    /// The data that are sent to the other side.
    pub writer: ByteWriter,
}

/// The incoming half of a stream.
pub struct ByteReader {
    chunks: mpsc::Receiver<Bytes>,
}

/// The outgoing half of a stream.
pub struct ByteWriter {
    id: u32,
    shared: Arc<Shared>,
    is_finished: bool,
}

impl StreamConnection {
    /// Starts SPDY on a connection that was upgraded.
    pub(crate) fn new(io: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (frames, outgoing) = mpsc::channel(CHUNKS_MAX);
        let (closing, is_closed) = watch::channel(false);
        let shared = Arc::new(Shared { frames, state: Mutex::default(), is_closed });
        let (read_half, write_half) = tokio::io::split(io);
        tokio::spawn(write_frames(write_half, outgoing));
        let reader = Arc::downgrade(&shared);
        let mut gone = shared.frames.clone().downgrade();
        tokio::spawn(async move {
            let read = read_frames(read_half, &reader, &mut gone);
            let _ = read.await;
            // Before the readers are dropped, so that a stream that ends with the connection can be distinguished.
            let _ = closing.send(true);
            if let Some(shared) = reader.upgrade() {
                shared.lock().readers.clear();
            }
        });
        Self { shared }
    }

    /// Opens a stream with these headers.
    pub async fn open(&self, headers: &[(&str, &str)]) -> io::Result<ByteStream> {
        let (sender, chunks) = mpsc::channel(CHUNKS_MAX);
        let (id, frame) = {
            let mut state = self.shared.lock();
            state.opened += 1;
            let id = 2 * state.opened - 1;
            state.readers.insert(id, sender);
            (id, state.encoder.open(id, headers))
        };
        self.shared.send(frame).await?;
        let writer = ByteWriter { id, shared: Arc::clone(&self.shared), is_finished: false };
        Ok(ByteStream { reader: ByteReader { chunks }, writer })
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        *self.shared.is_closed.borrow()
    }

    /// Returns when the connection has ended.
    pub async fn closed(&self) {
        let mut is_closed = self.shared.is_closed.clone();
        // An error means that the reading task has ended, and the connection with it.
        let _ = is_closed.wait_for(|is_closed| *is_closed).await;
    }
}

impl ByteReader {
    /// The next bytes; `None` at the end, or if the connection ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        self.chunks.recv().await
    }

    /// All bytes to the end.
    pub async fn to_end(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await {
            all.extend_from_slice(&bytes);
        }
        all
    }
}

impl ByteWriter {
    /// Sends bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(CHUNK_BYTES) {
            self.shared.send(frame::data(self.id, false, chunk)).await?;
        }
        Ok(())
    }

    /// Ends the outgoing half: nothing more is sent.
    pub async fn finish(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        self.shared.send(frame::data(self.id, true, &[])).await
    }

    /// Aborts the stream in both directions.
    pub async fn abort(&mut self) -> io::Result<()> {
        self.is_finished = true;
        self.shared.lock().readers.remove(&self.id);
        self.shared.send(frame::reset(self.id)).await
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing panics while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, frame: Vec<u8>) -> io::Result<()> {
        self.frames.send(frame).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Writes frames until the last sender is dropped.
async fn write_frames(mut io: impl AsyncWrite + Unpin, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        if io.write_all(&frame).await.is_err() || (frames.is_empty() && io.flush().await.is_err()) {
            return;
        }
    }
    let _ = io.shutdown().await;
}

/// Reads frames until the connection ends, and passes data on to their streams.
async fn read_frames(
    mut io: impl AsyncRead + Unpin,
    shared: &std::sync::Weak<Shared>,
    frames: &mut mpsc::WeakSender<Vec<u8>>,
) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    loop {
        let Some(length) = frame::frame_length(&buffer).filter(|length| *length <= buffer.len()) else {
            if io.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let frame = frame::decode(&buffer[..length]);
        buffer.advance(length);
        match frame {
            Frame::Data { stream, is_last, data } => pass_on(shared, stream, is_last, data).await,
            Frame::Reply { stream, is_last: true } | Frame::Reset { stream } => {
                pass_on(shared, stream, true, Vec::new()).await;
            }
            // Even ids are pings of the server; an odd one would be the response to a ping of ours.
            Frame::Ping(id) if id % 2 == 0 => {
                if let Some(frames) = frames.upgrade() {
                    let _ = frames.send(frame::ping(id)).await;
                }
            }
            Frame::GoAway => return Ok(()),
            Frame::Ping(_) | Frame::Reply { .. } | Frame::Other => {}
        }
    }
}

async fn pass_on(shared: &std::sync::Weak<Shared>, stream: u32, is_last: bool, data: Vec<u8>) {
    let Some(shared) = shared.upgrade() else { return };
    let reader = {
        let mut state = shared.lock();
        if is_last { state.readers.remove(&stream) } else { state.readers.get(&stream).cloned() }
    };
    drop(shared);
    if let Some(reader) = reader.filter(|_| !data.is_empty()) {
        // Data whose reader was dropped are discarded.
        let _ = reader.send(data.into()).await;
    }
}

impl fmt::Debug for StreamConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamConnection")
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteStream({})", self.writer.id)
    }
}

impl fmt::Debug for ByteReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByteReader")
    }
}

impl fmt::Debug for ByteWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteWriter({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};

    use super::*;

    async fn received(io: &mut DuplexStream) -> Frame {
        let mut head = [0; 8];
        io.read_exact(&mut head).await.unwrap();
        let mut frame = head.to_vec();
        frame.resize(frame::frame_length(&head).unwrap(), 0);
        io.read_exact(&mut frame[8..]).await.unwrap();
        frame::decode(&frame)
    }

    #[tokio::test]
    async fn streams_carry_data_both_ways_and_end_one_by_one() {
        let (ours, mut theirs) = duplex(1 << 16);
        let connection = StreamConnection::new(ours);
        let mut first = connection.open(&[("streamtype", "stdin")]).await.unwrap();
        let mut second = connection.open(&[("streamtype", "stdout")]).await.unwrap();
        assert_eq!((received(&mut theirs).await, received(&mut theirs).await), (Frame::Other, Frame::Other));
        first.writer.write(b"hello").await.unwrap();
        first.writer.finish().await.unwrap();
        assert_eq!(
            received(&mut theirs).await,
            Frame::Data { stream: 1, is_last: false, data: b"hello".to_vec() }
        );
        assert_eq!(received(&mut theirs).await, Frame::Data { stream: 1, is_last: true, data: vec![] });
        for frame in [
            frame::ping(2),
            frame::data(3, false, b"out"),
            frame::data(3, true, b"put"),
            frame::data(1, true, b""),
        ] {
            theirs.write_all(&frame).await.unwrap();
        }
        assert_eq!(second.reader.to_end().await, b"output");
        assert_eq!(first.reader.next().await, None);
        assert_eq!(received(&mut theirs).await, Frame::Ping(2));
    }

    #[tokio::test]
    async fn all_streams_end_with_the_connection() {
        let (ours, theirs) = duplex(1 << 16);
        let connection = StreamConnection::new(ours);
        let mut stream = connection.open(&[]).await.unwrap();
        drop(theirs);
        assert_eq!(stream.reader.next().await, None);
        assert!(connection.is_closed());
        connection.closed().await;
    }

    #[tokio::test]
    async fn the_connection_ends_with_the_last_stream() {
        let (ours, mut theirs) = duplex(1 << 16);
        let connection = StreamConnection::new(ours);
        let stream = connection.open(&[]).await.unwrap();
        drop((connection, stream));
        let mut rest = Vec::new();
        theirs.read_to_end(&mut rest).await.unwrap();
        assert!(!rest.is_empty(), "the frame that opened the stream");
    }
}
