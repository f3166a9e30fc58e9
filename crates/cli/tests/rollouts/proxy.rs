//! A TCP proxy that can drop connections.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The timeout until a request is seen; the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Proxy {
    address: String,
    wire: Arc<Wire>,
}

#[derive(Default)]
struct Wire {
    open: Mutex<Vec<TcpStream>>,
    /// All data that clients have sent.
    sent: Mutex<String>,
    /// The connection that sends this text first ends without a response.
    unanswered: Mutex<Option<&'static str>>,
}

impl Proxy {
    /// A proxy for this server.
    pub(crate) fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let wire = Arc::new(Wire::default());
        let (server, shared) = (server.to_owned(), Arc::clone(&wire));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let ends = [&client, &server].map(|end| end.try_clone().unwrap());
                shared.open.lock().unwrap().extend(ends);
                let (to_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let noted = Arc::clone(&shared);
                std::thread::spawn(move || pass(client, to_server, |sent| noted.note(sent)));
                std::thread::spawn(move || pass(server, to_client, |_| true));
            }
        });
        Self { address, wire }
    }

    /// Ends the first connection that sends this text, before the server receives it.
    pub(crate) fn leaves_unanswered(self, text: &'static str) -> Self {
        *self.wire.unanswered.lock().unwrap() = Some(text);
        self
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until clients have sent this text so many times.
    pub(crate) fn sees(&self, text: &str, times: usize) {
        let begun = Instant::now();
        while self.wire.sent.lock().unwrap().matches(text).count() < times {
            assert!(begun.elapsed() < TIMEOUT, "{text} was not sent {times} times");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes all connections; new ones are accepted.
    pub(crate) fn cut(&self) {
        for end in self.wire.open.lock().unwrap().drain(..) {
            // The connection may already be closed.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

impl Wire {
    /// Records data that a client has sent; returns whether to pass it on.
    fn note(&self, sent: &[u8]) -> bool {
        let sent = String::from_utf8_lossy(sent);
        self.sent.lock().unwrap().push_str(&sent);
        self.unanswered.lock().unwrap().take_if(|text| sent.contains(*text)).is_none()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, note: impl Fn(&[u8]) -> bool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !note(&buffer[..read]) {
            let _ = from.shutdown(Shutdown::Both);
            break;
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
