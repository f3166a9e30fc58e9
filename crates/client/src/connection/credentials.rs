//! The `Authorization` header of requests.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_formats::base64;
use http::HeaderValue;
use tokio::sync::Mutex;

use super::exec_plugin::ExecCredentials;

/// The credentials that each request carries.
#[derive(Clone)]
pub enum RequestCredentials {
    /// None, besides the client certificate of the connection.
    Anonymous,
    /// A token, or a user name and password.
    Header(HeaderValue),
    /// A token in a file that is replaced from time to time, such as the token of a pod's service account.
    TokenFile(Arc<TokenFile>),
    /// A token of an exec plugin.
    Exec(Arc<ExecCredentials>),
}

/// A file with a token, read again after a while.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    read: Mutex<Option<(Instant, HeaderValue)>>,
}

/// How long the content of a token file is used.
const TOKEN_FILE_PERIOD: Duration = Duration::from_secs(60);

impl RequestCredentials {
    /// A bearer token.
    pub fn token(token: &str) -> Result<Self, String> {
        bearer(token).map(Self::Header)
    }

    /// A user name and password.
    pub fn basic(user: &str, password: &str) -> Result<Self, String> {
        let text = base64::encode(format!("{user}:{password}").as_bytes());
        sensitive(&format!("Basic {text}")).map(Self::Header)
    }

    /// A token in a file.
    pub fn token_file(path: impl Into<PathBuf>) -> Self {
        Self::TokenFile(Arc::new(TokenFile { path: path.into(), read: Mutex::new(None) }))
    }

    pub(super) async fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        match self {
            Self::Anonymous => Ok(None),
            Self::Header(value) => Ok(Some(value.clone())),
            Self::TokenFile(file) => file.header().await.map(Some),
            Self::Exec(credentials) => credentials.header().await,
        }
    }

    /// Gets new credentials for the next request, after the server has refused these.
    pub(super) async fn renew(&self) {
        match self {
            Self::Anonymous | Self::Header(_) => {}
            Self::TokenFile(file) => *file.read.lock().await = None,
            Self::Exec(credentials) => credentials.forget().await,
        }
    }
}

impl TokenFile {
    async fn header(&self) -> Result<HeaderValue, String> {
        let mut read = self.read.lock().await;
        if let Some((at, value)) = &*read
            && at.elapsed() < TOKEN_FILE_PERIOD
        {
            return Ok(value.clone());
        }
        let value = bearer(read_token(&self.path)?.trim())?;
        *read = Some((Instant::now(), value.clone()));
        Ok(value)
    }
}

fn read_token(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the token file {}: {error}", path.display()))
}

pub(super) fn bearer(token: &str) -> Result<HeaderValue, String> {
    sensitive(&format!("Bearer {token}"))
}

/// A header value that is not logged.
fn sensitive(text: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(text).map_err(|_| "the credentials hold a control character".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for RequestCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anonymous => "RequestCredentials::Anonymous",
            Self::Header(_) => "RequestCredentials::Header",
            Self::TokenFile(_) => "RequestCredentials::TokenFile",
            Self::Exec(_) => "RequestCredentials::Exec",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn shown(credentials: &RequestCredentials) -> String {
        credentials.authorization().await.unwrap().unwrap().to_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_token_file_is_read_again_after_the_server_refused_its_token() {
        let path = std::env::temp_dir().join(format!("gantry-token-{}", std::process::id()));
        std::fs::write(&path, "first\n").unwrap();
        let credentials = RequestCredentials::token_file(&path);
        assert_eq!(shown(&credentials).await, "Bearer first");
        std::fs::write(&path, "second\n").unwrap();
        assert_eq!(shown(&credentials).await, "Bearer first");
        credentials.renew().await;
        assert_eq!(shown(&credentials).await, "Bearer second");
        std::fs::remove_file(path).unwrap();
    }

    #[tokio::test]
    async fn a_password_is_sent_as_basic_authentication_and_never_printed() {
        let credentials = RequestCredentials::basic("ann", "secret").unwrap();
        assert_eq!(shown(&credentials).await, "Basic YW5uOnNlY3JldA==");
        assert_eq!(format!("{credentials:?}"), "RequestCredentials::Header");
        assert!(RequestCredentials::token("a\nb").is_err());
    }
}
