//! Endpoints, credentials and timeouts of etcd.

use std::fmt;
use std::time::Duration;

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

/// Everything needed to use an etcd cluster.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The client URLs of the members, `http://host:port` or `https://host:port`.
    pub endpoints: Vec<String>,
    /// Required for `https` endpoints.
    pub tls: Option<Tls>,
    /// Name and password, where etcd's authentication is enabled and no certificate names the user.
    pub credentials: Option<Credentials>,
    /// The timeout for connecting to one member.
    pub connect_timeout: Duration,
    /// The timeout of a request, tries at other members included.
    pub request_timeout: Duration,
    /// How long to resolve a write whose response was lost, beyond `request_timeout`.
    pub resolve_timeout: Duration,
    /// History older than one to two intervals is compacted.
    ///
    /// Processes that share an etcd, kube-apiservers included, elect one of them per interval. `None` disables
    /// compaction.
    pub compact_every: Option<Duration>,
    /// The source of progress notices.
    pub progress: ProgressMarks,
    /// How to handle a write whose response was lost.
    pub lost_answers: LostAnswers,
}

/// TLS material, as PEM.
#[derive(Clone)]
pub struct Tls {
    /// The CA certificates of the members.
    pub authorities: Vec<u8>,
    /// Our client certificate and its key, where etcd requires one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name in the members' certificates, if it is not the host of their URLs.
    pub server_name: Option<String>,
}

/// A user of etcd's own authentication.
#[derive(Clone)]
pub struct Credentials {
    /// The user's name.
    pub name: String,
    /// The user's password.
    pub password: String,
}

/// The source of a watch's progress notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressMarks {
    /// Depends on the version of the member.
    ByVersion,
    /// etcd's progress responses. Before 3.4.25 and 3.5.8 they may overtake changes.
    Native,
    /// Changes alone: the watch is widened to keys that change with every write of ours.
    InOrder,
}

/// How to handle a write whose response was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostAnswers {
    /// Determine whether it happened. Every write carries a mark for that, a second small key.
    Resolve,
    /// Report the outcome as unknown, as a kube-apiserver does; writes then have no extra key.
    Report,
}

/// Invalid settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadSettings {
    /// There is no endpoint.
    NoEndpoint,
    /// The endpoint is not a usable URL.
    Endpoint {
        /// The endpoint, unchanged.
        endpoint: String,
        /// The reason.
        why: String,
    },
    /// The endpoint is `https`, and there is no CA certificate.
    Untrusted {
        /// The endpoint, unchanged.
        endpoint: String,
    },
    /// The timeouts exceed the lifetime of marks.
    TooPatient,
}

/// How long an unused mark (see `mark`) stays in etcd.
pub(crate) const MARK_IDLE: Duration = Duration::from_mins(10);

/// etcd's minimum for keep-alive pings is 5 s; a client that pings more often is disconnected.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// Lists of megabytes need not wait for a window update every 64 KiB.
const STREAM_WINDOW_BYTES: u32 = 2 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

impl Settings {
    /// These endpoints without TLS or user, with kube-apiserver's compaction interval.
    pub fn new(endpoints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            tls: None,
            credentials: None,
            connect_timeout: Duration::from_secs(3),
            request_timeout: Duration::from_secs(10),
            resolve_timeout: Duration::from_secs(30),
            compact_every: Some(Duration::from_mins(5)),
            progress: ProgressMarks::ByVersion,
            lost_answers: LostAnswers::Resolve,
        }
    }

    /// Checks the settings and parses every endpoint.
    pub(crate) fn parse(&self) -> Result<Vec<Endpoint>, BadSettings> {
        if self.endpoints.is_empty() {
            return Err(BadSettings::NoEndpoint);
        }
        if self.request_timeout.saturating_add(self.resolve_timeout) > MARK_IDLE / 2 {
            return Err(BadSettings::TooPatient);
        }
        self.endpoints.iter().map(|endpoint| self.parse_endpoint(endpoint)).collect()
    }

    fn parse_endpoint(&self, endpoint: &str) -> Result<Endpoint, BadSettings> {
        let bad = |why: String| BadSettings::Endpoint { endpoint: endpoint.to_owned(), why };
        let parsed = Endpoint::from_shared(endpoint.to_owned()).map_err(|error| bad(error.to_string()))?;
        let parsed = match parsed.uri().scheme_str() {
            Some("http") => parsed,
            Some("https") => {
                let Some(tls) = &self.tls else {
                    return Err(BadSettings::Untrusted { endpoint: endpoint.to_owned() });
                };
                parsed.tls_config(tls.client()).map_err(|error| bad(crate::fault::chain(&error)))?
            }
            _ => return Err(bad("it starts with neither http:// nor https://".to_owned())),
        };
        Ok(parsed
            .connect_timeout(self.connect_timeout)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .tcp_nodelay(true))
    }
}

impl Tls {
    fn client(&self) -> ClientTlsConfig {
        let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&self.authorities));
        if let Some((certificate, key)) = &self.identity {
            config = config.identity(Identity::from_pem(certificate, key));
        }
        if let Some(name) = &self.server_name {
            config = config.domain_name(name);
        }
        config
    }
}

impl fmt::Debug for Tls {
    /// Keys are not formatted, so that they are never logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, server_name, .. } = self;
        f.debug_struct("Tls")
            .field("with_identity", &identity.is_some())
            .field("server_name", server_name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Credentials {
    /// Passwords are not formatted, so that they are never logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEndpoint => write!(f, "no etcd endpoint is given"),
            Self::Endpoint { endpoint, why } => write!(f, "{endpoint} is not a usable etcd endpoint: {why}"),
            Self::Untrusted { endpoint } => {
                write!(f, "{endpoint} needs TLS, but no certificate authority to trust is given")
            }
            Self::TooPatient => {
                write!(f, "the request and resolve timeouts together are at most {:?}", MARK_IDLE / 2)
            }
        }
    }
}

impl std::error::Error for BadSettings {}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: &Settings) -> String {
        settings.parse().map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_cannot_work_are_refused_with_the_reason() {
        assert_eq!(refused(&Settings::new([""; 0])), "no etcd endpoint is given");
        assert!(refused(&Settings::new(["127.0.0.1:2379"])).contains("neither http:// nor https://"));
        assert!(refused(&Settings::new(["http://a b"])).contains("is not a usable etcd endpoint"));
        assert!(refused(&Settings::new(["https://etcd:2379"])).contains("no certificate authority"));
        let patient = Settings { resolve_timeout: Duration::MAX, ..Settings::new(["http://127.0.0.1:2379"]) };
        assert_eq!(patient.parse().map(|_| ()), Err(BadSettings::TooPatient));
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut settings = Settings::new(["https://etcd:2379"]);
        settings.credentials = Some(Credentials { name: "gantry".into(), password: "hunter2".into() });
        let identity = Some((b"cert".to_vec(), b"hunter2".to_vec()));
        settings.tls = Some(Tls { authorities: Vec::new(), identity, server_name: None });
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
