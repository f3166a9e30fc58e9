//! Credential plugins: programs that print an `ExecCredential` (client.authentication.k8s.io).

use std::fmt;
use std::io::{ErrorKind, IsTerminal as _};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use gantry_formats::rfc3339::{self, TimeLayout};
use gantry_json::{Value, json};
use http::HeaderValue;
use tokio::process::Command;
use tokio::sync::Mutex;

use super::config::ClientIdentity;
use super::credentials::bearer;

/// How a credential plugin is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecPlugin {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables in addition to the environment of this process.
    pub env: Vec<(String, String)>,
    /// The version of the `ExecCredential`.
    pub api_version: String,
    /// How the program is installed, for error messages.
    pub install_hint: Option<String>,
    /// Whether the program may prompt the user.
    pub is_interactive: bool,
    /// The cluster, if the program needs to know it.
    pub cluster: Option<Value>,
}

/// The token of a credential plugin, which runs again when the token expires.
pub struct ExecCredentials {
    plugin: ExecPlugin,
    current: Mutex<Option<Issued>>,
}

#[derive(Clone)]
struct Issued {
    header: Option<HeaderValue>,
    expires: Option<SystemTime>,
}

/// A token is renewed this long before it expires.
const EXPIRY_MARGIN: Duration = Duration::from_secs(10);

impl ExecCredentials {
    /// Runs the plugin, and returns the client certificate too if it printed one.
    pub async fn start(plugin: ExecPlugin) -> Result<(Self, Option<ClientIdentity>), String> {
        let (issued, identity) = plugin.run().await?;
        Ok((Self { plugin, current: Mutex::new(Some(issued)) }, identity))
    }

    pub(super) async fn header(&self) -> Result<Option<HeaderValue>, String> {
        let mut current = self.current.lock().await;
        if let Some(issued) = current.as_ref().filter(|issued| issued.is_valid(SystemTime::now())) {
            return Ok(issued.header.clone());
        }
        let (issued, _) = self.plugin.run().await?;
        Ok(current.insert(issued).header.clone())
    }

    pub(super) async fn forget(&self) {
        *self.current.lock().await = None;
    }
}

impl Issued {
    fn is_valid(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| now + EXPIRY_MARGIN < expires)
    }
}

impl ExecPlugin {
    async fn run(&self) -> Result<(Issued, Option<ClientIdentity>), String> {
        let is_interactive = self.is_interactive && std::io::stdin().is_terminal();
        let mut spec = json!({"interactive": is_interactive});
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        let info = json!({"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec});
        let output = Command::new(&self.command)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("KUBERNETES_EXEC_INFO", info.to_string())
            .stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() })
            .stderr(Stdio::inherit())
            .output()
            .await
            .map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            let code =
                output.status.code().map_or_else(|| output.status.to_string(), |code| code.to_string());
            return Err(format!(
                "getting credentials: exec: executable {} failed with exit code {code}",
                self.command
            ));
        }
        self.parse(&output.stdout)
    }

    fn not_started(&self, error: &std::io::Error) -> String {
        if error.kind() != ErrorKind::NotFound {
            return format!("getting credentials: exec: {}: {error}", self.command);
        }
        let hint = self.install_hint.as_ref().map(|hint| format!("\nhint: {}", hint.replace('\n', " ")));
        format!(
            "getting credentials: exec: executable {} not found{}",
            self.command,
            hint.unwrap_or_default()
        )
    }

    fn parse(&self, output: &[u8]) -> Result<(Issued, Option<ClientIdentity>), String> {
        let wrong = |why: &str| format!("getting credentials: exec: {} printed {why}", self.command);
        let credential: Value =
            gantry_json::from_slice(output).map_err(|error| wrong(&format!("no JSON: {error}")))?;
        if credential["apiVersion"].as_str() != Some(&self.api_version) {
            return Err(wrong(&format!(
                "an ExecCredential of version {}, not {}",
                credential["apiVersion"], self.api_version
            )));
        }
        let status = &credential["status"];
        let text = |name: &str| status[name].as_str().filter(|text| !text.is_empty());
        let expires = text("expirationTimestamp").map(|text| {
            let time = rfc3339::parse(text, TimeLayout::Seconds)
                .map_err(|_| wrong("an invalid expirationTimestamp"))?;
            let seconds = u64::try_from(time.seconds).unwrap_or(0);
            Ok::<_, String>(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        });
        let header = text("token").map(bearer).transpose()?;
        let identity = match (text("clientCertificateData"), text("clientKeyData")) {
            (Some(certificate), Some(key)) => {
                Some(ClientIdentity { certificate: certificate.into(), key: key.into() })
            }
            (None, None) => None,
            _ => return Err(wrong("a client certificate without its key, or a key without its certificate")),
        };
        if header.is_none() && identity.is_none() {
            return Err(wrong("neither a token nor a client certificate"));
        }
        Ok((Issued { header, expires: expires.transpose()? }, identity))
    }
}

impl fmt::Debug for ExecCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecCredentials").field("command", &self.plugin.command).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "client.authentication.k8s.io/v1";

    fn shell(script: &str) -> ExecPlugin {
        ExecPlugin {
            command: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            api_version: VERSION.to_owned(),
            ..ExecPlugin::default()
        }
    }

    fn prints(status: &str) -> String {
        format!(r#"echo '{{"apiVersion":"{VERSION}","kind":"ExecCredential","status":{status}}}'"#)
    }

    async fn failure(plugin: ExecPlugin) -> String {
        ExecCredentials::start(plugin).await.unwrap_err()
    }

    #[tokio::test]
    async fn the_token_of_a_plugin_is_used_until_the_server_refuses_it() {
        let file = std::env::temp_dir().join(format!("gantry-exec-{}", std::process::id()));
        let count = format!("echo run >> {0}; n=$(wc -l < {0});", file.display());
        let script = format!("{count} {}", prints(r#"{"token":"t'$n'"}"#));
        let (credentials, identity) = ExecCredentials::start(shell(&script)).await.unwrap();
        let token = async || credentials.header().await.unwrap().unwrap();
        assert!(identity.is_none());
        assert_eq!(token().await, "Bearer t1");
        assert_eq!(token().await, "Bearer t1");
        credentials.forget().await;
        assert_eq!(token().await, "Bearer t2");
        std::fs::remove_file(file).unwrap();
    }

    #[tokio::test]
    async fn an_expired_token_is_not_used() {
        let script = prints(r#"{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}"#);
        let (credentials, _) = ExecCredentials::start(shell(&script)).await.unwrap();
        let issued = credentials.current.lock().await.clone().unwrap();
        assert!(!issued.is_valid(SystemTime::now()));
    }

    #[tokio::test]
    async fn a_plugin_gets_the_cluster_and_returns_a_certificate() {
        let cluster = Some(json!({"server": "https://10.0.0.1"}));
        let check = r#"case "$KUBERNETES_EXEC_INFO" in *https://10.0.0.1*) ;; *) exit 3;; esac;"#;
        let script = format!("{check} {}", prints(r#"{"clientCertificateData":"c","clientKeyData":"k"}"#));
        let (credentials, identity) =
            ExecCredentials::start(ExecPlugin { cluster, ..shell(&script) }).await.unwrap();
        assert!(credentials.header().await.unwrap().is_none());
        assert_eq!(identity, Some(ClientIdentity { certificate: b"c".to_vec(), key: b"k".to_vec() }));
    }

    #[tokio::test]
    async fn errors_of_a_plugin_are_reported() {
        let missing = ExecPlugin {
            command: "/nowhere/login".to_owned(),
            install_hint: Some("install login".to_owned()),
            ..ExecPlugin::default()
        };
        assert_eq!(
            failure(missing).await,
            "getting credentials: exec: executable /nowhere/login not found\nhint: install login"
        );
        assert_eq!(
            failure(shell("exit 4")).await,
            "getting credentials: exec: executable /bin/sh failed with exit code 4"
        );
        assert!(failure(shell("echo hello")).await.contains("printed no JSON"));
        assert!(failure(shell(&prints("{}"))).await.ends_with("neither a token nor a client certificate"));
        let other = ExecPlugin {
            api_version: "client.authentication.k8s.io/v1beta1".to_owned(),
            ..shell(&prints("{}"))
        };
        assert!(failure(other).await.contains("not client.authentication.k8s.io/v1beta1"));
    }
}
