//! A connection that can be made bad: between a store and etcd, requests can be held back, answers be swallowed, and all
//! be cut off.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A way to etcd that obeys.
#[derive(Debug)]
pub(crate) struct Proxy {
    url: String,
    switches: Arc<Switches>,
}

#[derive(Debug, Default)]
struct Switches {
    /// How many connections there have been.
    connections: AtomicU64,
    /// Of connections with a lower number, requests are held back until this is 0 again.
    frozen_below: watch::Sender<u64>,
    /// Answers are thrown away while this is true.
    swallow_answers: watch::Sender<bool>,
    /// Changes when every connection there is breaks.
    cut: watch::Sender<()>,
}

impl Proxy {
    /// A good connection to etcd at this URL.
    pub(crate) async fn to(url: &str) -> Self {
        let target = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let switches = Arc::new(Switches::default());
        let accepting = Arc::clone(&switches);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&target).await else { continue };
                connect(client, server, &accepting);
            }
        });
        Self { url, switches }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Holds back what is sent from now on over the connections there are; new connections are not touched.
    pub(crate) fn freeze(&self) {
        self.switches.frozen_below.send_replace(self.switches.connections.load(Ordering::SeqCst));
    }

    /// Lets what was held back arrive, also from connections that were cut off since.
    pub(crate) fn thaw(&self) {
        self.switches.frozen_below.send_replace(0);
    }

    /// Throws answers away, or no longer does. A connection that has lost some breaks then: none has holes.
    pub(crate) fn swallow_answers(&self, swallow: bool) {
        self.switches.swallow_answers.send_replace(swallow);
    }

    /// Breaks every connection there is; new ones are welcome.
    pub(crate) fn cut(&self) {
        self.switches.cut.send_replace(());
    }
}

fn connect(client: TcpStream, server: TcpStream, switches: &Switches) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let number = switches.connections.fetch_add(1, Ordering::SeqCst);
    let frozen = switches.frozen_below.subscribe();
    let swallow = switches.swallow_answers.subscribe();
    tokio::spawn(carry_answers(from_server, to_client, swallow, switches.cut.subscribe()));
    tokio::spawn(carry_requests(from_client, to_server, number, frozen, switches.cut.subscribe()));
}

async fn carry_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut swallow: watch::Receiver<bool>,
    mut cut: watch::Receiver<()>,
) {
    let mut buffer = vec![0; 1 << 16];
    let mut has_lost_some = false;
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = swallow.wait_for(|swallow| has_lost_some && !swallow) => 0,
            _ = cut.changed() => 0,
        };
        if read == 0 {
            return;
        }
        if *swallow.borrow() {
            has_lost_some = true;
        } else if has_lost_some || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

async fn carry_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: u64,
    mut frozen_below: watch::Receiver<u64>,
    mut cut: watch::Receiver<()>,
) {
    let mut buffer = vec![0; 1 << 16];
    let mut held = Vec::new();
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = cut.changed() => 0,
        };
        if read == 0 {
            break;
        }
        if number < *frozen_below.borrow() {
            held.extend_from_slice(&buffer[..read]);
        } else if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
    drop(from);
    if !held.is_empty() {
        let _ = frozen_below.wait_for(|frozen_below| number >= *frozen_below).await;
        let _ = to.write_all(&held).await;
        // etcd drops requests of a client that has gone; here, the client has not quite.
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
}
