//! The credentials of `gantry node`: those of a kubeconfig, or those with which this machine joined a cluster.

use std::path::{Path, PathBuf};

use gantry_certificates::Lifetime;
use gantry_client::{ApiTransport, ClientConfig, RequestCredentials, ServerTrust};
use gantry_formats::bootstrap_token::BootstrapToken;
use gantry_node_join::{NodeIdentity, RenewedTransport, discover, request_certificate};
use gantry_runtime::{Api, Clock, Metrics};
use http::Uri;

use crate::cluster::{Cluster, ConnectionFlags, without_label};
use crate::kubectl::now;

/// How a node reaches its cluster.
pub(crate) struct NodeCredentials {
    pub(crate) transport: ApiTransport,
    /// The URL of the server, for the log.
    pub(crate) server: String,
    /// The certificates of the cluster's authority, as PEM.
    pub(crate) authority: Option<String>,
    /// The certificate to renew, if the machine joined.
    pub(crate) renewal: Option<Renewal>,
}

/// The certificate of a machine that joined, to be renewed.
pub(crate) struct Renewal {
    transport: RenewedTransport,
    identity: NodeIdentity,
    file: PathBuf,
}

impl Renewal {
    /// Renews the certificate for as long as the node runs.
    pub(crate) async fn run(self, node: String) {
        self.transport.renew(self.identity, node, self.file, Clock::system()).await;
    }
}

/// Returns the credentials that the flags select; joins the cluster if the flags request it.
pub(crate) async fn credentials(
    flags: &ConnectionFlags,
    pins: &[String],
    root: &Path,
    node: &str,
) -> Result<NodeCredentials, String> {
    let file = root.join("kubeconfig");
    let wants_stored = !pins.is_empty() || flags.are_absent();
    let stored =
        if wants_stored { NodeIdentity::read(&file).map_err(|error| error.to_string())? } else { None };
    let stored = stored.filter(|stored| is_valid(stored.lifetime()));
    let identity = match stored {
        Some(stored) => {
            tracing::info!(file = %file.display(), "this machine has joined a cluster before");
            stored
        }
        None if pins.is_empty() => return of_kubeconfig(flags).await,
        None => {
            let joined = join(flags, pins, node).await?;
            joined.write(&file).map_err(|error| error.to_string())?;
            tracing::info!(file = %file.display(), "this machine has joined the cluster; its credentials are kept");
            joined
        }
    };
    let transport = RenewedTransport::new(&identity).map_err(|error| error.to_string())?;
    Ok(NodeCredentials {
        transport: transport.transport(),
        server: identity.server.to_string(),
        authority: Some(identity.authority.clone()),
        renewal: Some(Renewal { transport, identity, file }),
    })
}

async fn of_kubeconfig(flags: &ConnectionFlags) -> Result<NodeCredentials, String> {
    let config = flags.config_or_message().await?;
    let cluster = Cluster::open(&config).map_err(|failure| without_label(&failure))?;
    Ok(NodeCredentials {
        transport: cluster.transport.clone(),
        server: cluster.server().to_owned(),
        authority: config.trust.certificate_authorities().map(str::to_owned),
        renewal: None,
    })
}

fn is_valid(lifetime: Option<Lifetime>) -> bool {
    let now = now().seconds_after(gantry_primitives::Timestamp::from_secs(0));
    lifetime.is_some_and(|lifetime| now < lifetime.ends)
}

/// Joins a cluster: trusts it by the token and the pins, and requests a certificate.
async fn join(flags: &ConnectionFlags, pins: &[String], node: &str) -> Result<NodeIdentity, String> {
    let (Some(server), Some(token)) = flags.address_and_token() else {
        return Err("--ca-cert-hash is about joining a cluster\nhint: give --server and --token too; `gantry token create` on \
                    the cluster prints the whole command"
            .to_owned());
    };
    let server = address(server)?;
    let token = BootstrapToken::parse(token).ok_or(
        "--token: a bootstrap token is six characters, a dot and sixteen characters: 07401b.f395accd246ae52d",
    )?;
    if let Some(wrong) = pins.iter().find(|pin| !is_pin(pin)) {
        return Err(format!("--ca-cert-hash: {wrong:?} is not sha256: and 64 hexadecimal digits"));
    }
    tracing::info!(%server, "joining the cluster");
    let cluster = discover(&server, &token, pins).await.map_err(|error| error.to_string())?;
    let config = ClientConfig {
        trust: ServerTrust::CertificateAuthorities(cluster.authority.clone()),
        credentials: RequestCredentials::token(&token.whole())?,
        ..ClientConfig::new(server.clone())
    };
    let transport = ApiTransport::connect(&config).map_err(|error| error.to_string())?;
    let api = Api::new(transport, "gantry-node", Metrics::new());
    let identity = request_certificate(&api, node).await.map_err(|error| error.to_string())?;
    Ok(NodeIdentity { server, authority: cluster.authority, identity })
}

/// Parses the address of a server; `https://` may be omitted.
fn address(text: &str) -> Result<Uri, String> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let parsed: Option<Uri> = whole.trim_end_matches('/').parse().ok();
    parsed.filter(|uri| uri.scheme_str() == Some("https") && uri.host().is_some()).ok_or_else(|| {
        format!(
            "--server: {text:?} is not a valid address of a server with TLS, such as https://10.0.0.1:6443"
        )
    })
}

fn is_pin(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_joins_over_tls_only() {
        assert_eq!(address("10.0.0.1:6443").unwrap().to_string(), "https://10.0.0.1:6443/");
        assert_eq!(address("https://a.example/").unwrap().host(), Some("a.example"));
        assert!(address("http://a.example").unwrap_err().contains("with TLS"));
        assert!(is_pin(&format!("sha256:{}", "0f".repeat(32))));
        assert!(!is_pin("sha256:0f") && !is_pin(&"0f".repeat(32)));
    }
}
