//! Opens the store of `--etcd`.

use std::path::PathBuf;
use std::sync::Arc;

use gantry_runtime::error_chain;
use gantry_store::Store;
use gantry_store_etcd::{BadSettings, EtcdStore, Settings, Tls};

use super::flags::{Etcd, EtcdFiles};

/// Connects to etcd; the error names the flag and the fix.
pub(crate) async fn open(named: &Etcd) -> Result<Arc<dyn Store>, String> {
    let settings = Settings { tls: tls(&named.files)?, ..Settings::new(&named.urls) };
    let store = EtcdStore::new(&settings).map_err(|error| {
        let hint = match error {
            BadSettings::Untrusted { .. } => "\nhint: name the authority's certificate with --etcd-cafile",
            _ => "",
        };
        format!("--etcd: {}{hint}", error_chain(&error))
    })?;
    let urls = &named.urls;
    let unreachable = |error| {
        let urls = urls.join(",");
        format!(
            "--etcd {urls}: {error}\nhint: check that etcd is running, and that these are its client URLs"
        )
    };
    store.ready().await.map_err(unreachable)?;
    Ok(Arc::new(store))
}

/// The certificates for etcd; none for an etcd without TLS.
fn tls(files: &EtcdFiles) -> Result<Option<Tls>, String> {
    let read = |flag: &str, file: &PathBuf| {
        std::fs::read(file).map_err(|error| format!("{flag} {}: {error}", file.display()))
    };
    let Some(authorities) = &files.authorities else { return Ok(None) };
    let identity = match (&files.certificate, &files.key) {
        (Some(certificate), Some(key)) => {
            Some((read("--etcd-certfile", certificate)?, read("--etcd-keyfile", key)?))
        }
        _ => None,
    };
    Ok(Some(Tls { authorities: read("--etcd-cafile", authorities)?, identity, server_name: None }))
}
