//! A faulty connection between a store and etcd: requests can be held back, responses dropped, and connections cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    swallow_answers: watch::Sender<bool>,
    /// Changes when all connections are cut.
    cut: watch::Sender<()>,
    /// The number of whole requests that are held back.
    held_back: watch::Sender<u64>,
    /// The number of responses that etcd has completed.
    responses: watch::Sender<u64>,
    /// The number of open connections.
    open: watch::Sender<u64>,
    /// Whether a response was dropped since that was last switched on.
    has_swallowed: AtomicBool,
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
                connect(client, server, accepting.clone());
            }
        });
        Self { url, switches }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Holds back what is sent from now on over existing connections; new connections are not affected.
    pub(crate) fn freeze(&self) {
        self.switches.frozen_below.send_replace(self.switches.connections.load(Ordering::SeqCst));
    }

    /// Waits until a whole request is held back.
    pub(crate) async fn holds_back_a_request(&self) {
        let mut held_back = self.switches.held_back.subscribe();
        soon("a request", held_back.wait_for(|requests| *requests > 0)).await.unwrap();
    }

    /// Sends what was held back, also of connections that were cut since, and waits for a response of etcd.
    pub(crate) async fn thaw(&self) {
        let before = self.responses();
        self.switches.held_back.send_replace(0);
        self.switches.frozen_below.send_replace(0);
        self.responded_after(before).await;
    }

    /// Returns the number of responses that etcd has completed.
    pub(crate) fn responses(&self) -> u64 {
        *self.switches.responses.borrow()
    }

    /// Waits until etcd has completed more responses than that.
    pub(crate) async fn responded_after(&self, before: u64) {
        let mut responses = self.switches.responses.subscribe();
        soon("a response", responses.wait_for(|responses| *responses > before)).await.unwrap();
    }

    /// Waits until all connections are closed.
    pub(crate) async fn all_closed(&self) {
        let mut open = self.switches.open.subscribe();
        soon("the end of all connections", open.wait_for(|open| *open == 0)).await.unwrap();
    }

    /// Sets whether responses are dropped. A connection that has lost some is closed afterwards: none has gaps.
    pub(crate) fn swallow_answers(&self, swallow: bool) {
        self.switches.has_swallowed.store(false, Ordering::SeqCst);
        self.switches.swallow_answers.send_replace(swallow);
    }

    /// Whether a response was dropped since that was last switched on or off.
    pub(crate) fn has_swallowed(&self) -> bool {
        self.switches.has_swallowed.load(Ordering::SeqCst)
    }

    /// Cuts all connections; new ones are accepted.
    pub(crate) fn cut(&self) {
        self.switches.cut.send_replace(());
    }
}

fn connect(client: TcpStream, server: TcpStream, switches: Arc<Switches>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let number = switches.connections.fetch_add(1, Ordering::SeqCst);
    switches.open.send_modify(|open| *open += 1);
    tokio::spawn(async move {
        tokio::join!(
            carry_responses(from_server, to_client, &switches),
            carry_requests(from_client, to_server, number, &switches)
        );
        switches.open.send_modify(|open| *open -= 1);
    });
}

/// Forwards responses until the connection is cut. Then it still reads those to requests that were held back.
async fn carry_responses(mut from: OwnedReadHalf, to: OwnedWriteHalf, switches: &Switches) {
    let (mut swallow, mut cut) = (switches.swallow_answers.subscribe(), switches.cut.subscribe());
    let (mut to, mut has_lost_some) = (Some(to), false);
    let (mut buffer, mut frames) = (vec![0; 1 << 16], Frames::default());
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = swallow.wait_for(|swallow| has_lost_some && !swallow), if to.is_some() => { to = None; continue }
            _ = cut.changed(), if to.is_some() => { to = None; continue }
        };
        if read == 0 {
            return;
        }
        if *swallow.borrow() {
            has_lost_some = true;
            switches.has_swallowed.store(true, Ordering::SeqCst);
        } else if let Some(open) = &mut to
            && (has_lost_some || open.write_all(&buffer[..read]).await.is_err())
        {
            to = None;
        }
        let responses = frames.read(&buffer[..read]);
        switches.responses.send_modify(|all| *all += responses);
    }
}

/// Forwards requests until the connection is cut, and those that were held back after it is thawed.
async fn carry_requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, number: u64, switches: &Switches) {
    let (mut frozen_below, mut cut) = (switches.frozen_below.subscribe(), switches.cut.subscribe());
    let (mut buffer, mut frames) = (vec![0; 1 << 16], Frames::after_preface());
    let mut held = Vec::new();
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = cut.changed() => 0,
        };
        if read == 0 {
            break;
        }
        let requests = frames.read(&buffer[..read]);
        if number < *frozen_below.borrow() {
            held.extend_from_slice(&buffer[..read]);
            switches.held_back.send_modify(|all| *all += requests);
        } else if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
    drop(from);
    if !held.is_empty() {
        let _ = frozen_below.wait_for(|frozen_below| number >= *frozen_below).await;
        let mut responses = switches.responses.subscribe();
        responses.mark_unchanged();
        let _ = to.write_all(&held).await;
        // etcd drops requests of a client that has closed its connection.
        let _ = responses.changed().await;
    }
}

/// Counts the requests or responses in the HTTP/2 frames of a connection: the frames that end a stream.
#[derive(Default)]
struct Frames {
    header: Vec<u8>,
    payload_left: usize,
}

impl Frames {
    const HEADER_BYTES: usize = 9;
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const END_STREAM: u8 = 1;
    const PREFACE_BYTES: usize = 24;

    /// The frames of a client, which come after a preface.
    fn after_preface() -> Self {
        Self { header: Vec::new(), payload_left: Self::PREFACE_BYTES }
    }

    fn read(&mut self, mut bytes: &[u8]) -> u64 {
        let mut ended = 0;
        while !bytes.is_empty() {
            let skipped = self.payload_left.min(bytes.len());
            self.payload_left -= skipped;
            bytes = &bytes[skipped..];
            let taken = (Self::HEADER_BYTES - self.header.len()).min(bytes.len());
            self.header.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if let [a, b, c, kind, flags, ..] = self.header[..]
                && self.header.len() == Self::HEADER_BYTES
            {
                self.payload_left = u32::from_be_bytes([0, a, b, c]) as usize;
                let has_end = matches!(kind, Self::DATA | Self::HEADERS);
                ended += u64::from(has_end && flags & Self::END_STREAM != 0);
                self.header.clear();
            }
        }
        ended
    }
}
