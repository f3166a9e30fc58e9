//! A faulty connection between a store and etcd: requests can be held back, responses dropped, and connections cut.
//!
//! The proxy reads the HTTP/2 frames that it forwards, so that a test can wait for a request or a response instead of
//! for a duration.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use gantry_store::suite::soon;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A proxy in front of etcd.
#[derive(Debug)]
pub(crate) struct Proxy {
    url: String,
    switches: Arc<Switches>,
}

#[derive(Debug, Default)]
struct Switches {
    /// The number of connections so far.
    connections: AtomicU64,
    /// Requests of connections with a lower number are held back until this is 0 again.
    frozen_below: watch::Sender<u64>,
    /// Whether responses are dropped.
    drop_responses: watch::Sender<bool>,
    /// Changes when all connections are cut.
    cut: watch::Sender<()>,
    /// The number of requests that were held back and have no response from etcd yet.
    held_back: watch::Sender<usize>,
    /// The number of complete responses that were dropped.
    dropped: watch::Sender<usize>,
    /// The number of open connections.
    open: watch::Sender<usize>,
}

impl Proxy {
    /// Starts a proxy to etcd at this URL, without faults.
    pub(crate) async fn to(url: &str) -> Self {
        let target = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let switches = Arc::new(Switches::default());
        let accepting = Arc::clone(&switches);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&target).await else { continue };
                connect(client, server, Arc::clone(&accepting));
            }
        });
        Self { url, switches }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Holds back all data that is sent from now on over existing connections; new connections are not affected.
    pub(crate) fn freeze(&self) {
        self.switches.frozen_below.send_replace(self.switches.connections.load(Ordering::SeqCst));
    }

    /// Waits until a whole request is held back.
    pub(crate) async fn holds_back_a_request(&self) {
        let mut held_back = self.switches.held_back.subscribe();
        soon("a request", held_back.wait_for(|requests| *requests > 0)).await.unwrap();
    }

    /// Sends all held back data, also of connections that were cut since, and waits until etcd has responded to all of
    /// it.
    pub(crate) async fn thaw(&self) {
        self.switches.frozen_below.send_replace(0);
        let mut held_back = self.switches.held_back.subscribe();
        soon("the responses to late requests", held_back.wait_for(|requests| *requests == 0)).await.unwrap();
    }

    /// Sets whether responses are dropped. A connection that has lost some is closed afterwards, so that none has gaps.
    pub(crate) fn drop_responses(&self, drop: bool) {
        self.switches.drop_responses.send_replace(drop);
    }

    /// The number of complete responses and parts of streams that were dropped so far.
    pub(crate) fn dropped(&self) -> usize {
        *self.switches.dropped.borrow()
    }

    /// Waits until more has been dropped than that.
    pub(crate) async fn drops_more_than(&self, before: usize) {
        let mut dropped = self.switches.dropped.subscribe();
        soon("a dropped response", dropped.wait_for(|dropped| *dropped > before)).await.unwrap();
    }

    /// Waits until all connections are closed.
    pub(crate) async fn all_closed(&self) {
        let mut open = self.switches.open.subscribe();
        soon("the end of all connections", open.wait_for(|open| *open == 0)).await.unwrap();
    }

    /// Cuts all connections; new ones are accepted.
    pub(crate) fn cut(&self) {
        self.switches.cut.send_replace(());
    }
}

/// The streams of a connection whose requests were held back and have no response.
type HeldStreams = Mutex<BTreeSet<u32>>;

fn connect(client: TcpStream, server: TcpStream, switches: Arc<Switches>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let number = switches.connections.fetch_add(1, Ordering::SeqCst);
    switches.open.send_modify(|open| *open += 1);
    tokio::spawn(async move {
        let held = HeldStreams::default();
        tokio::join!(
            carry_responses(from_server, to_client, &held, &switches),
            carry_requests(from_client, to_server, number, &held, &switches)
        );
        switches.open.send_modify(|open| *open -= 1);
    });
}

/// Forwards responses until the connection is cut. Then it still reads the responses to requests that were held back.
async fn carry_responses(
    mut from: OwnedReadHalf,
    to: OwnedWriteHalf,
    held: &HeldStreams,
    switches: &Switches,
) {
    let (mut drops, mut cut) = (switches.drop_responses.subscribe(), switches.cut.subscribe());
    let (mut to, mut has_gap) = (Some(to), false);
    let (mut buffer, mut frames) = (vec![0; 1 << 16], Frames::default());
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = drops.wait_for(|drops| has_gap && !drops), if to.is_some() => { to = None; continue }
            _ = cut.changed(), if to.is_some() => { to = None; continue }
        };
        if read == 0 {
            break;
        }
        let complete = frames.complete(&buffer[..read]);
        if *drops.borrow() {
            has_gap = true;
            let dropped = complete.iter().filter(|frame| frame.kind() == Frame::DATA || frame.ends_stream());
            switches.dropped.send_modify(|all| *all += dropped.count());
        } else if let Some(open) = &mut to
            && (has_gap || open.write_all(&buffer[..read]).await.is_err())
        {
            to = None;
        }
        for frame in complete.iter().filter(|frame| frame.ends_stream()) {
            if held.lock().unwrap().remove(&frame.stream()) {
                switches.held_back.send_modify(|requests| *requests -= 1);
            }
        }
    }
    // etcd has closed the connection.
    let remaining = std::mem::take(&mut *held.lock().unwrap()).len();
    switches.held_back.send_modify(|requests| *requests -= remaining);
}

/// Forwards requests until the connection is cut, and those that were held back once it is thawed.
async fn carry_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: u64,
    held: &HeldStreams,
    switches: &Switches,
) {
    let (mut frozen_below, mut cut) = (switches.frozen_below.subscribe(), switches.cut.subscribe());
    let (mut buffer, mut frames) = (vec![0; 1 << 16], Frames::after_preface());
    let mut late = Vec::new();
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = cut.changed() => 0,
        };
        if read == 0 {
            break;
        }
        let complete = frames.complete(&buffer[..read]);
        if number >= *frozen_below.borrow() {
            if to.write_all(&buffer[..read]).await.is_err() {
                return;
            }
            continue;
        }
        // etcd does not respond to a request that is cancelled.
        for frame in complete.into_iter().filter(|frame| !frame.is_cancellation()) {
            if frame.ends_stream() && held.lock().unwrap().insert(frame.stream()) {
                switches.held_back.send_modify(|requests| *requests += 1);
            }
            late.extend(frame.bytes);
        }
    }
    drop(from);
    if late.is_empty() {
        return;
    }
    let _ = frozen_below.wait_for(|frozen_below| number >= *frozen_below).await;
    if to.write_all(&late).await.is_ok() {
        // etcd drops requests of a client that has closed its connection.
        let mut held_back = switches.held_back.subscribe();
        let _ = held_back.wait_for(|_| held.lock().unwrap().is_empty()).await;
    }
}

/// A frame of HTTP/2.
struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const GOAWAY: u8 = 7;
    const END_STREAM: u8 = 1;

    fn kind(&self) -> u8 {
        self.bytes[3]
    }

    fn stream(&self) -> u32 {
        u32::from_be_bytes([self.bytes[5], self.bytes[6], self.bytes[7], self.bytes[8]])
    }

    fn ends_stream(&self) -> bool {
        let has_end =
            matches!(self.kind(), Self::DATA | Self::HEADERS) && self.bytes[4] & Self::END_STREAM != 0;
        has_end || self.kind() == Self::RST_STREAM
    }

    fn is_cancellation(&self) -> bool {
        matches!(self.kind(), Self::RST_STREAM | Self::GOAWAY)
    }
}

/// Cuts the bytes of a connection into frames.
#[derive(Default)]
struct Frames {
    /// The remaining bytes of a client's preface.
    preface: usize,
    incomplete: Vec<u8>,
}

impl Frames {
    const HEADER_BYTES: usize = 9;

    fn after_preface() -> Self {
        Self { preface: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len(), incomplete: Vec::new() }
    }

    /// Returns the frames that these bytes complete.
    fn complete(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let preface = self.preface.min(bytes.len());
        self.preface -= preface;
        self.incomplete.extend_from_slice(&bytes[preface..]);
        let mut frames = Vec::new();
        while let [a, b, c, ..] = self.incomplete[..] {
            let length = Self::HEADER_BYTES + u32::from_be_bytes([0, a, b, c]) as usize;
            if self.incomplete.len() < length {
                break;
            }
            let rest = self.incomplete.split_off(length);
            frames.push(Frame { bytes: std::mem::replace(&mut self.incomplete, rest) });
        }
        frames
    }
}
