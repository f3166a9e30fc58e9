//! A whole control plane without nodes in one process: the API in memory over plain HTTP on loopback, and all
//! controllers beside it. To try clients and the conformance runners against; there is neither TLS nor access control.
//!
//! `cargo run -p gantry-controllers --example all -- 127.0.0.1:8001`

use std::sync::Arc;

use gantry_apiserver::{ApiServer, ApiService, ServiceAccounts, Settings};
use gantry_controllers::{Options, run};
use gantry_serving::{Limits, Listening, RealWorld, Stopper, Transport};
use gantry_store::memory::{HistoryLimits, MemoryStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into());
    tracing_subscriber::fmt().with_env_filter(words).with_writer(std::io::stderr).init();
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8001".to_owned());
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    // The recordings that the runners compare with were taken without service accounts in pods.
    let settings = Settings { service_accounts: ServiceAccounts::Ignored, ..Settings::default() };
    let server = ApiServer::new(store, Arc::new(RealWorld), settings);
    server.prepare().await?;
    let client = kube::Client::new(ApiService::for_master(server.clone(), "gantry"), "default");
    let (_switch, signal) = gantry_runtime::shutdown();
    let options = Options { root_ca: Some("no certificate".to_owned()), ..Options::default() };
    tokio::spawn(run(client, options, signal));
    let (_stopper, stop) = Stopper::new();
    Listening::on(address.parse()?).await?.serve(server, Transport::Plain, Limits::default(), stop).await;
    Ok(())
}
