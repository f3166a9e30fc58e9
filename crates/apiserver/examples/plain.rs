//! The API in memory over plain HTTP on loopback, for everybody who can reach it: to try clients and the conformance
//! runners against. Not how Gantry will be run: there is no TLS here, and access control only if asked for.
//!
//! `cargo run --release -p gantry-apiserver --example plain -- 127.0.0.1:8001 [--rbac] [--token ADMINS-TOKEN]`

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use gantry_apiserver::{Access, ApiServer, Settings, StaticToken, Surroundings};
use gantry_registry::Moment;
use gantry_registry::access::User;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

/// The real clock, and numbers that count up from it.
#[derive(Debug)]
struct RealWorld(AtomicU64);

impl RealWorld {
    fn number(&self) -> u64 {
        let mut mixed = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Surroundings for RealWorld {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::from_secs(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    fn uid(&self) -> String {
        let (a, b) = (self.number(), self.number());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            b >> 48 & 0xfff,
            b & 0xffff_ffff_ffff
        )
    }

    fn name_suffix(&self) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut rest = self.number();
        let letters = (0..5).map(|_| {
            let letter = ALPHABET[usize::try_from(rest % 27).unwrap_or(0)];
            rest /= 27;
            char::from(letter)
        });
        letters.collect()
    }
}

/// With `--rbac`, roles and bindings count; with `--token`, whoever shows it may do everything.
fn access(arguments: &[String]) -> Access {
    let access =
        if arguments.iter().any(|word| word == "--rbac") { Access::rbac() } else { Access::default() };
    let token = arguments.windows(2).find(|pair| pair[0] == "--token").map(|pair| pair[1].clone());
    let admin =
        User { name: "admin".to_owned(), groups: vec!["system:masters".to_owned()], ..User::default() };
    Access { tokens: token.map(|token| StaticToken { token, user: admin }).into_iter().collect(), ..access }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = arguments.first().map_or("127.0.0.1:8001", String::as_str);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let seed = u64::try_from(nanos % u128::from(u64::MAX)).unwrap_or(1);
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(
        store,
        Arc::new(RealWorld(AtomicU64::new(seed))),
        Settings { access: access(&arguments), ..Settings::default() },
    );
    server.prepare().await?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let server = server.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: http::Request<Incoming>| {
                let server = server.clone();
                async move { Ok::<_, Infallible>(server.serve(request).await) }
            });
            let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            // A client that goes away ends its connection, nothing more.
            let _ = builder.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
