//! Verifies that a server belongs to the cluster: by the ConfigMap `cluster-info`, which the token signs, and by the
//! pin of the authority in it.

use gantry_certificates::{is_signed_by, public_key_pin};
use gantry_client::{ApiTransport, ClientConfig, RefusalKind, ServerTrust};
use gantry_formats::base64;
use gantry_formats::bootstrap_token::BootstrapToken;
use gantry_json::Value;
use gantry_runtime::{Api, Metrics, RequestError, ResourcePath};
use gantry_schema::decode::{self, Format};
use http::Uri;

use crate::JoinError;

const PATH: &str = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const KUBECONFIG: &str = "kubeconfig";

/// A cluster that was verified by a token and a pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredCluster {
    /// The certificates of its authority, as PEM.
    pub authority: String,
    /// The address in `cluster-info`.
    pub server: String,
}

/// Finds the authority of the cluster behind an address.
///
/// Nothing secret is sent: first `cluster-info` is read from an unverified server, then the same is read again with the
/// authority that was found.
pub async fn discover(
    server: &Uri,
    token: &BootstrapToken,
    pins: &[String],
) -> Result<DiscoveredCluster, JoinError> {
    let untrusted = ClientConfig { trust: ServerTrust::Unverified, ..ClientConfig::new(server.clone()) };
    let found = read(&untrusted).await?;
    let cluster = read_cluster_info(&found, token, pins)?;
    let trust = ServerTrust::CertificateAuthorities(cluster.authority.clone());
    let again = read(&ClientConfig { trust, ..ClientConfig::new(server.clone()) }).await?;
    if again["data"][KUBECONFIG] != found["data"][KUBECONFIG] {
        return Err(JoinError::new("the ConfigMap cluster-info changed while it was read; try again"));
    }
    Ok(cluster)
}

async fn read(config: &ClientConfig) -> Result<Value, JoinError> {
    let transport = ApiTransport::connect(config).map_err(|error| JoinError::new(error.to_string()))?;
    let api = Api::new(transport, "gantry-node", Metrics::new());
    api.get(&ResourcePath::path(PATH)).await.map_err(|failure| unread(&config.server, &failure))
}

fn unread(server: &Uri, failure: &RequestError) -> JoinError {
    let hint = match failure.kind() {
        RefusalKind::Unauthorized | RefusalKind::Forbidden => {
            "\nhint: requests without credentials may not read it; `gantry token create` on the cluster grants that"
        }
        RefusalKind::NotFound => "\nhint: it does not exist; `gantry token create` on the cluster creates it",
        _ => "",
    };
    JoinError::new(format!(
        "the ConfigMap cluster-info in kube-public of {server} cannot be read: {failure}{hint}"
    ))
}

/// Verifies a ConfigMap `cluster-info`: the token has signed it, and the pins match its authority.
pub fn read_cluster_info(
    info: &Value,
    token: &BootstrapToken,
    pins: &[String],
) -> Result<DiscoveredCluster, JoinError> {
    let text = info["data"][KUBECONFIG].as_str().unwrap_or_default();
    let signature = info["data"][format!("jws-kubeconfig-{}", token.id()).as_str()].as_str();
    let Some(signature) = signature else {
        return Err(JoinError::new(format!(
            "the cluster does not know the token {}: it may have expired\nhint: `gantry token create` creates another",
            token.id()
        )));
    };
    if !is_signed_by(signature, text, token.id(), token.secret()) {
        return Err(JoinError::new(
            "the signature of cluster-info does not fit the token: the server is not that of the cluster that created the token, \
             or the token is mistyped",
        ));
    }
    let (kubeconfig, _) = decode::plain(text.as_bytes(), Format::Yaml)
        .map_err(|why| JoinError::new(format!("the kubeconfig in cluster-info cannot be read: {why}")))?;
    let cluster = &kubeconfig["clusters"][0]["cluster"];
    let authority = cluster["certificate-authority-data"].as_str().unwrap_or_default();
    let authority = base64::decode(authority).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let authority = authority
        .filter(|text| !text.is_empty())
        .ok_or_else(|| JoinError::new("the kubeconfig in cluster-info has no certificate-authority-data"))?;
    let found = public_key_pin(authority.as_bytes());
    if found.is_empty() || !found.iter().all(|pin| pins.iter().any(|wanted| wanted.eq_ignore_ascii_case(pin)))
    {
        return Err(JoinError::new(format!(
            "the authority of the cluster has the pin {}, which is not the one that was given\nhint: if this is the right \
             cluster, `gantry token create` prints its pin",
            found.join(", ")
        )));
    }
    Ok(DiscoveredCluster { authority, server: cluster["server"].as_str().unwrap_or_default().to_owned() })
}

#[cfg(test)]
mod tests {
    use gantry_certificates::token_signature;
    use gantry_json::json;

    use super::*;

    /// The certificate of an authority, and its pin as computed by `openssl`.
    const AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBdDCCARugAwIBAgIUYgKNtbK19LP+jysXxOFwDvYTb0AwCgYIKoZIzj0EAwIw\n\
EDEOMAwGA1UEAwwFZml4ZWQwHhcNMjYxMTE3MjIyNTAxWhcNMzYxMTE0MjIyNTAx\n\
WjAQMQ4wDAYDVQQDDAVmaXhlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIWk\n\
MvPElQ9Ue0n7SeiJ4VZxjwPilaOxlcy5JZVHO5hSUSjnaLjkurQLw45LtQYSB+Uq\n\
pgT3OlvN1Bg1wQtbQOejUzBRMB0GA1UdDgQWBBSFStrz+Wk2zgW/VkBSaj9pTqh9\n\
tDAfBgNVHSMEGDAWgBSFStrz+Wk2zgW/VkBSaj9pTqh9tDAPBgNVHRMBAf8EBTAD\n\
AQH/MAoGCCqGSM49BAMCA0cAMEQCICt/YwH7wPfc9ghzSNBIgygj1Wpm+Br5g4K9\n\
t8rCEYIqAiAFOLIc/Po8HqbsssC66q6Sg6qhSjiSVCf5NqMtE01qfQ==\n\
-----END CERTIFICATE-----\n\
";
    const PIN: &str = "sha256:54523855b8fec423eba4e8d1646403ce3aa522b94a6922bd35c30161f8471688";

    fn token() -> BootstrapToken {
        BootstrapToken::parse("abcdef.0123456789abcdef").unwrap()
    }

    fn cluster_info(signer: &BootstrapToken) -> Value {
        let text = format!(
            "clusters:\n- name: \"\"\n  cluster:\n    server: https://10.0.0.1:6443\n    certificate-authority-data: {}\n",
            base64::encode(AUTHORITY.as_bytes())
        );
        let signature = token_signature(&text, signer.id(), signer.secret());
        json!({"data": {"kubeconfig": text, "jws-kubeconfig-abcdef": signature}})
    }

    fn refusal(info: &Value, pin: &str) -> String {
        read_cluster_info(info, &token(), &[pin.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn a_cluster_that_matches_token_and_pin_is_trusted() {
        let found = read_cluster_info(
            &cluster_info(&token()),
            &token(),
            &[PIN.to_uppercase().replace("SHA256", "sha256")],
        )
        .unwrap();
        assert_eq!(found.authority, AUTHORITY);
        assert_eq!(found.server, "https://10.0.0.1:6443");
    }

    #[test]
    fn another_cluster_is_not_trusted() {
        let other = BootstrapToken::parse("abcdef.ffffffffffffffff").unwrap();
        assert!(refusal(&cluster_info(&other), PIN).contains("does not fit the token"));
        let mut changed = cluster_info(&token());
        changed["data"]["kubeconfig"] = json!("clusters: []");
        assert!(refusal(&changed, PIN).contains("does not fit the token"));
        assert!(refusal(&json!({"data": {"kubeconfig": "x"}}), PIN).contains("may have expired"));
        let wrong = format!("sha256:{}", "00".repeat(32));
        assert!(refusal(&cluster_info(&token()), &wrong).contains("not the one that was given"));
    }
}
