//! A connection that can be made bad: between a store and etcd, bytes can be held back, swallowed, or cut off.

use std::sync::Arc;
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

#[derive(Debug)]
struct Switches {
    /// Requests do not reach etcd while this is true. What is held back arrives later, whoever has gone away since.
    hold_requests: watch::Sender<bool>,
    /// Answers are thrown away while this is true.
    swallow_answers: watch::Sender<bool>,
    /// Connections older than this number are cut off.
    cut: watch::Sender<u64>,
}

impl Proxy {
    /// A good connection to etcd at this URL.
    pub(crate) async fn to(url: &str) -> Self {
        let target = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let switches = Arc::new(Switches {
            hold_requests: watch::Sender::new(false),
            swallow_answers: watch::Sender::new(false),
            cut: watch::Sender::new(0),
        });
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

    pub(crate) fn hold_requests(&self, hold: bool) {
        self.switches.hold_requests.send_replace(hold);
    }

    pub(crate) fn swallow_answers(&self, swallow: bool) {
        self.switches.swallow_answers.send_replace(swallow);
    }

    /// Breaks every connection there is; new ones are welcome.
    pub(crate) fn cut(&self) {
        self.switches.cut.send_modify(|cut| *cut += 1);
    }
}

fn connect(client: TcpStream, server: TcpStream, switches: &Switches) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut cut = switches.cut.subscribe();
    let (hold, swallow) = (switches.hold_requests.subscribe(), switches.swallow_answers.subscribe());
    let answers = tokio::spawn(carry_answers(from_server, to_client, swallow));
    let requests = tokio::spawn(carry_requests(from_client, to_server, hold, switches.cut.subscribe()));
    tokio::spawn(async move {
        let _ = cut.changed().await;
        answers.abort();
        drop(requests);
    });
}

async fn carry_answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, swallow: watch::Receiver<bool>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if !*swallow.borrow() && to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

async fn carry_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut hold: watch::Receiver<bool>,
    mut cut: watch::Receiver<u64>,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = cut.changed() => 0,
        };
        if read == 0 {
            return;
        }
        if *hold.borrow() {
            // Nobody answers the client any more, and etcd gets what it sent, however late.
            let _ = hold.wait_for(|hold| !hold).await;
            let _ = to.write_all(&buffer[..read]).await;
            return tokio::time::sleep(Duration::from_millis(500)).await;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
