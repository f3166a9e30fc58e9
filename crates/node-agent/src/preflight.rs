//! Checks whether this machine can be a node; errors say what is missing and how to get it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gantry_cri::Runtime;

/// The usual sockets of container runtimes.
const SOCKETS: [&str; 4] = [
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/var/run/crio/crio.sock",
    "/run/cri-dockerd.sock",
];
/// How long a runtime may take to respond.
const RESPONSE_MAX: Duration = Duration::from_secs(10);

/// Why a machine cannot be a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotUsable {
    /// None of the usual sockets exists.
    NoRuntime,
    /// There is no such socket.
    NoSocket(PathBuf),
    /// The socket, or something else that is needed, is accessible to root only.
    NoRights(PathBuf),
    /// The runtime does not respond, or not with CRI.
    NoResponse(PathBuf, String),
}

/// Parses the socket of a runtime: `auto`, a path, or a URL with the scheme `unix`.
pub fn find_socket(written: &str) -> Result<PathBuf, NotUsable> {
    if written == "auto" {
        let found = SOCKETS.iter().map(PathBuf::from).find(|socket| socket.exists());
        return found.ok_or(NotUsable::NoRuntime);
    }
    let path = PathBuf::from(written.strip_prefix("unix://").unwrap_or(written));
    if path.exists() { Ok(path) } else { Err(NotUsable::NoSocket(path)) }
}

/// Checks that the runtime behind a socket responds and that this process may use it. Returns a warning if it has no pod
/// network, which it may get later.
pub async fn check(socket: &Path) -> Result<Option<String>, NotUsable> {
    if !rustix::process::geteuid().is_root() {
        return Err(NotUsable::NoRights(socket.to_owned()));
    }
    if let Err(error) = tokio::net::UnixStream::connect(socket).await {
        return Err(match error.kind() {
            io::ErrorKind::NotFound => NotUsable::NoSocket(socket.to_owned()),
            io::ErrorKind::PermissionDenied => NotUsable::NoRights(socket.to_owned()),
            _ => NotUsable::NoResponse(socket.to_owned(), error.to_string()),
        });
    }
    let runtime = Runtime::at(socket);
    let failed = |why: String| NotUsable::NoResponse(socket.to_owned(), why);
    let conditions = tokio::time::timeout(RESPONSE_MAX, runtime.conditions()).await;
    let conditions = conditions.map_err(|_elapsed| failed(format!("no response within {RESPONSE_MAX:?}")))?;
    let conditions = conditions.map_err(|error| failed(error.to_string()))?;
    let network = conditions.iter().find(|condition| condition.kind == "NetworkReady" && !condition.status);
    Ok(network.map(|condition| {
        format!(
            "the container runtime has no pod network yet ({}): pods wait until there is a CNI configuration in \
             /etc/cni/net.d; see docs/real-pods.md for one",
            condition.message
        )
    }))
}

impl fmt::Display for NotUsable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => write!(
                f,
                "no container runtime was found at {}; install one (on Debian: apt install containerd \
                 containernetworking-plugins) or name its socket: --cri unix:///path/to.sock",
                SOCKETS.join(", ")
            ),
            Self::NoSocket(path) => write!(
                f,
                "there is no socket {}; start the container runtime (systemctl start containerd), or use --cri auto",
                path.display()
            ),
            Self::NoRights(path) => {
                write!(f, "only root may run pods with {}; run the command with sudo", path.display())
            }
            Self::NoResponse(path, why) => write!(
                f,
                "{} does not respond as a container runtime (CRI runtime.v1): {why}; if it is containerd, check that \
                 its configuration does not disable the plugin \"cri\"",
                path.display()
            ),
        }
    }
}

impl std::error::Error for NotUsable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_socket_is_named() {
        let problem = find_socket("unix:///no/such.sock").unwrap_err();
        assert!(problem.to_string().starts_with("there is no socket /no/such.sock"), "{problem}");
    }
}
