//! Explains start errors: the flag, the problem, and a hint.

use std::io;
use std::net::SocketAddr;

use gantry_cluster::StartError;
use gantry_runtime::error_chain;
use gantry_store_embedded::OpenError;

/// The flag, the error, and a hint.
pub(super) fn explain(error: &StartError) -> String {
    match error {
        StartError::Nodes(invalid) => format!("--nodes: {invalid}\nhint: name a smaller number"),
        StartError::Listen { address, source } => cannot_listen(*address, source),
        StartError::Directory(error) => {
            let hint = match error {
                OpenError::InUse { .. } => "\nhint: stop that process, or name another directory",
                OpenError::Io { .. } => "\nhint: name a directory that you may write to",
                OpenError::Corrupt(_) | OpenError::NotEmpty { .. } => "",
            };
            format!("--data-dir: {}{hint}", error_chain(error))
        }
        other => error_chain(other),
    }
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "stop what serves there (`gantry clusters` lists your clusters), or choose another port with --listen, \
             such as 127.0.0.1:0 for a free one"
        }
        io::ErrorKind::AddrNotAvailable => "choose an address that this machine has",
        io::ErrorKind::PermissionDenied => "choose a port above 1023",
        _ => "choose another address",
    };
    format!("cannot --listen on {address}: {error}\nhint: {hint}")
}
