//! The client configuration of a context in a kubeconfig, or of a pod.

use std::path::Path;

use gantry_client::{ClientConfig, ClientIdentity, ExecCredentials, RequestCredentials, ServerTrust};
use gantry_formats::{base64, percent};
use gantry_json::json;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};

use super::kubeconfig::{ClusterEntry, ContextEntry, ExecEntry, PemSource, UserEntry};

/// Where the credentials of a service account are in its pods.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the configuration for a cluster and a user. Runs the credential plugin if there is one.
pub(super) async fn client_config(
    cluster: &ClusterEntry,
    user: &UserEntry,
    context: &ContextEntry,
) -> Result<ClientConfig, String> {
    let server = cluster.server.as_deref().ok_or_else(|| {
        "the cluster has no server in the kubeconfig\nhint: name one with --server".to_owned()
    })?;
    let mut config = ClientConfig::new(parse_server(server)?);
    if let Some(proxy) = &cluster.proxy_url {
        return Err(format!(
            "proxy-url {proxy}: proxies are not supported\nhint: remove it from the kubeconfig, or use a tunnel to the server"
        ));
    }
    if let Some(namespace) = &context.namespace {
        config.default_namespace.clone_from(namespace);
    }
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    config.trust = trust(cluster)?;
    config.identity = identity(user)?;
    config.headers = impersonation(user)?;
    config.credentials = credentials(user, cluster, &mut config.identity).await?;
    Ok(config)
}

/// Returns the configuration of a pod with a service account; `None` outside of pods.
pub(super) fn of_pod() -> Option<ClientConfig> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (host, port) = (variable("KUBERNETES_SERVICE_HOST")?, variable("KUBERNETES_SERVICE_PORT")?);
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let mounted = Path::new(SERVICE_ACCOUNT);
    let authorities = std::fs::read_to_string(mounted.join("ca.crt")).ok()?;
    let namespace = std::fs::read_to_string(mounted.join("namespace")).ok()?;
    Some(ClientConfig {
        default_namespace: namespace.trim().to_owned(),
        trust: ServerTrust::CertificateAuthorities(authorities),
        credentials: RequestCredentials::token_file(mounted.join("token")),
        ..ClientConfig::new(format!("https://{host}:{port}").parse().ok()?)
    })
}

fn parse_server(server: &str) -> Result<Uri, String> {
    let uri: Uri = server
        .parse()
        .map_err(|error| format!("the server address {server:?} is not a valid URL: {error}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(_)) => Ok(uri),
        _ => Err(format!(
            "the server address {server:?} is not a valid URL: it must begin with http:// or https://"
        )),
    }
}

fn trust(cluster: &ClusterEntry) -> Result<ServerTrust, String> {
    if cluster.skips_verification {
        return Ok(ServerTrust::Unverified);
    }
    let Some(source) = &cluster.certificate_authority else { return Ok(ServerTrust::System) };
    let pem = source.read("certificate-authority")?;
    Ok(ServerTrust::CertificateAuthorities(String::from_utf8_lossy(&pem).into_owned()))
}

fn identity(user: &UserEntry) -> Result<Option<ClientIdentity>, String> {
    let missing = |what: &str| format!("there is no {what}\nhint: a certificate and its key belong together");
    match (&user.client_certificate, &user.client_key) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(missing("client-key")),
        (None, Some(_)) => Err(missing("client-certificate")),
        (Some(certificate), Some(key)) => Ok(Some(ClientIdentity {
            certificate: certificate.read("client-certificate")?,
            key: key.read("client-key")?,
        })),
    }
}

impl PemSource {
    fn read(&self, what: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Data(text) => base64::decode(text).map_err(|offset| {
                format!(
                    "the {what}-data of the kubeconfig is not valid base64: illegal data at byte {offset}"
                )
            }),
            Self::File(file) => std::fs::read(file)
                .map_err(|error| format!("unable to read {what} {}: {error}", file.display())),
        }
    }
}

/// The credentials of a user with the highest precedence; the order is kubectl's.
async fn credentials(
    user: &UserEntry,
    cluster: &ClusterEntry,
    identity: &mut Option<ClientIdentity>,
) -> Result<RequestCredentials, String> {
    if let Some(file) = &user.token_file {
        return Ok(RequestCredentials::token_file(file));
    }
    if let Some(token) = &user.token {
        return RequestCredentials::token(token);
    }
    if let (Some(name), Some(password)) = (&user.username, &user.password) {
        return RequestCredentials::basic(name, password);
    }
    if let Some(exec) = &user.exec {
        let (credentials, issued) = ExecCredentials::start(exec.plugin_for(cluster)?).await?;
        *identity = issued.or(identity.take());
        return Ok(RequestCredentials::Exec(credentials.into()));
    }
    match &user.auth_provider {
        None => Ok(RequestCredentials::Anonymous),
        Some(name) => Err(format!(
            "auth-provider {name:?} is not supported\nhint: use a credential plugin (exec) instead"
        )),
    }
}

impl ExecEntry {
    fn plugin_for(&self, cluster: &ClusterEntry) -> Result<gantry_client::ExecPlugin, String> {
        let mut plugin = self.plugin.clone();
        if self.needs_cluster {
            let authority = cluster.certificate_authority.as_ref();
            let authority = authority.map(|source| source.read("certificate-authority")).transpose()?;
            let mut info = json!({"server": cluster.server.as_deref().unwrap_or_default()});
            if let Some(authority) = authority {
                info["certificate-authority-data"] = base64::encode(&authority).into();
            }
            if let Some(name) = &cluster.tls_server_name {
                info["tls-server-name"] = name.as_str().into();
            }
            if cluster.skips_verification {
                info["insecure-skip-tls-verify"] = true.into();
            }
            plugin.cluster = Some(info);
        }
        Ok(plugin)
    }
}

fn impersonation(user: &UserEntry) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: &str| {
        let name =
            HeaderName::try_from(name).map_err(|_| format!("{name:?} is not a valid name of a header"))?;
        let value = HeaderValue::try_from(value)
            .map_err(|_| format!("{value:?} cannot be impersonated: it holds a control character"))?;
        headers.append(name, value);
        Ok::<_, String>(())
    };
    if let Some(name) = &user.act_as {
        add("impersonate-user", name)?;
    }
    if let Some(uid) = &user.act_as_uid {
        add("impersonate-uid", uid)?;
    }
    for group in &user.act_as_groups {
        add("impersonate-group", group)?;
    }
    for (key, value) in &user.act_as_extra {
        add(&format!("impersonate-extra-{}", percent::encode(key).to_lowercase()), value)?;
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_needs_its_key() {
        let pem = Some(PemSource::Data("aGk=".to_owned()));
        let user = UserEntry { client_certificate: pem.clone(), ..UserEntry::default() };
        assert!(identity(&user).unwrap_err().starts_with("there is no client-key"));
        let user = UserEntry { client_key: pem, ..UserEntry::default() };
        assert!(identity(&user).unwrap_err().starts_with("there is no client-certificate"));
        let broken = PemSource::Data("%".to_owned());
        assert_eq!(
            broken.read("client-key").unwrap_err(),
            "the client-key-data of the kubeconfig is not valid base64: illegal data at byte 0"
        );
    }

    #[test]
    fn all_parts_of_an_impersonated_user_are_sent() {
        let user = UserEntry {
            act_as: Some("ann".to_owned()),
            act_as_groups: vec!["a".to_owned(), "b".to_owned()],
            act_as_extra: vec![("Example.com/Team".to_owned(), "shop".to_owned())],
            ..UserEntry::default()
        };
        let headers = impersonation(&user).unwrap();
        assert_eq!(headers["impersonate-user"], "ann");
        assert_eq!(headers.get_all("impersonate-group").iter().count(), 2);
        assert_eq!(headers["impersonate-extra-example.com%2fteam"], "shop");
        let hidden = UserEntry { act_as: Some("a\nb".to_owned()), ..UserEntry::default() };
        assert!(impersonation(&hidden).is_err());
    }

    #[test]
    fn an_address_without_a_scheme_is_refused() {
        assert!(parse_server("10.0.0.1:6443").unwrap_err().contains("must begin with http:// or https://"));
        assert!(parse_server("https://10.0.0.1:6443").is_ok());
    }
}
